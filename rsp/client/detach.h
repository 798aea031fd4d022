#pragma once

#include "rsp/result.h"

namespace mqbridge::rsp {

class Client;

/// `D` or `D;PID`, exempt from deadlines and cancel, with a deadline of its own. Safe to call
/// twice. After run_until(), where `D` would lose the signal that stopped the target, it is passed
/// on and the connection good for nothing more. Does nothing to a target that run_until() left
/// running. Where the stub takes several requests at once, the last look at the process
/// (Client::life()) leaves with it.
Result<void> detach(Client& client);

} // namespace mqbridge::rsp
