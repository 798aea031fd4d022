#pragma once

#include "rsp/client/process_life.h"
#include "rsp/result.h"
#include "rsp/transport/endpoint.h"

namespace mqbridge::rsp {

class Client;

/// Error target.died for the process behind `endpoint`.
Error died(const Endpoint& endpoint);

/// Checks in one exchange that the process is there. If nothing was read of it so far,
/// /proc/PID/stat and the stub's knowledge of its thread tell. Errors: target.died, those of the
/// exchange.
Result<void> expect_alive(Client& client);

/// The same, after something has failed; the result is in Client::life(). A silent stub is not
/// asked: the time left is for the detach.
void look_for_life(Client& client);

} // namespace mqbridge::rsp
