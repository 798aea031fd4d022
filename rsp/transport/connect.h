#pragma once

#include "rsp/endpoint.h"
#include "rsp/result.h"
#include "rsp/transport/unique_fd.h"
#include "rsp/transport/watch.h"

#include <chrono>

namespace mqbridge::rsp {

struct ConnectedSocket {
  UniqueFd fd;
  Watch watch;
};

/// Tries each address of the host in turn. `timeout` is for all of it, the name server included.
/// Errors: connect.refused, connect.timeout, connect.unresolved, connect.failed.
Result<ConnectedSocket> connect_tcp(const Endpoint& endpoint, const TcpEndpoint& where,
                                    std::chrono::milliseconds timeout, Guardian* guardian);

/// Errors: connect.refused, connect.failed.
Result<ConnectedSocket> connect_unix(const Endpoint& endpoint, const UnixEndpoint& where,
                                     std::chrono::milliseconds timeout, Guardian* guardian);

} // namespace mqbridge::rsp
