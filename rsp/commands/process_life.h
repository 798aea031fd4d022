#pragma once

#include "rsp/client/process_life.h"
#include "rsp/result.h"
#include "rsp/transport/endpoint.h"

namespace mqbridge::rsp {

class Client;

/// target.died, of the process behind `endpoint`.
Error died(const Endpoint& endpoint);

/// Looks whether the process is there, in one exchange; where nothing was read of it so far, by
/// /proc/PID/stat, and what the stub knows of its thread. Errors: target.died, those of the
/// exchange.
Result<void> expect_alive(Client& client);

/// The same, after something has failed: Client::life() has what it found out. A stub that has
/// fallen silent is not asked: it is to have time for the detach.
void look_for_life(Client& client);

} // namespace mqbridge::rsp
