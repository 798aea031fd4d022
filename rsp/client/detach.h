#pragma once

#include "rsp/result.h"

namespace mqbridge::rsp {

class Client;

/// Sends `D` or `D;PID`, exempt from deadlines and cancel, with a deadline of its own. Safe to call
/// twice. Where `D` would lose the signal that stopped the target (after run_until()), the signal
/// is passed on instead, and the connection is of no further use. Does nothing to a target that
/// run_until() left running. Where the stub takes several requests at once, the last look at the
/// process (Client::life()) leaves with the packet.
Result<void> detach(Client& client);

} // namespace mqbridge::rsp
