#pragma once

#include "rsp/endpoint.h"
#include "rsp/result.h"
#include "rsp/transport/transport.h"
#include "rsp/transport/watch.h"

#include <chrono>
#include <memory>

namespace mqbridge::rsp {

struct OpenTransport {
  std::unique_ptr<Transport> transport;
  Watch watch;
};

/// Connects, or starts the endpoint's command. The guardian watches the socket from before
/// connect() or spawn. Errors: connect.refused, connect.timeout, connect.unresolved,
/// connect.failed; those of Guardian::watch.
Result<OpenTransport> open_transport(const Endpoint& endpoint, std::chrono::milliseconds timeout,
                                     Guardian* guardian);

/// Takes a connected stream socket over.
std::unique_ptr<Transport> adopt_socket(int fd);

} // namespace mqbridge::rsp
