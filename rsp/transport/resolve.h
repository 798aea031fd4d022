#pragma once

#include "rsp/result.h"
#include "rsp/transport/connect.h"
#include "rsp/transport/endpoint.h"

#include <sys/socket.h>
#include <vector>

namespace mqbridge::rsp {

/// An address in the form that connect(2) takes.
struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

/// The addresses of a host, best first. Each name is looked up on a thread of its own: nothing can
/// end getaddrinfo(3) early, and no name may wait for a slow one. Errors: connect.unresolved,
/// connect.timeout, interrupted.
Result<std::vector<Address>> resolve(const Endpoint& endpoint, const TcpEndpoint& where,
                                     const ConnectLimits& limits);

} // namespace mqbridge::rsp
