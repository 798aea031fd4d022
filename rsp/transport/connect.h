#pragma once

#include "rsp/result.h"
#include "rsp/transport/endpoint.h"
#include "rsp/transport/guardian_watch.h"
#include "rsp/unique_fd.h"

#include <chrono>
#include <stop_token>

namespace mqbridge::rsp {

struct ConnectedSocket {
  UniqueFd fd;
  GuardianWatch watch;
};

/// What ends the connecting.
struct ConnectLimits {
  std::chrono::steady_clock::time_point deadline;
  std::stop_token stop;
};

/// Tries each address of the host in turn. The limits are for all of it, the name server included.
/// Errors: connect.refused, connect.timeout, connect.unresolved, connect.failed, interrupted.
Result<ConnectedSocket> connect_tcp(const Endpoint& endpoint, const TcpEndpoint& where,
                                    const ConnectLimits& limits, Guardian* guardian);

/// Errors: connect.refused, connect.timeout, connect.failed, interrupted.
Result<ConnectedSocket> connect_unix(const Endpoint& endpoint, const UnixEndpoint& where,
                                     const ConnectLimits& limits, Guardian* guardian);

} // namespace mqbridge::rsp
