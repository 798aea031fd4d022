#pragma once

#include "rsp/endpoint.h"
#include "rsp/result.h"
#include "rsp/transport/connect.h"
#include "rsp/transport/transport.h"
#include "rsp/transport/watch.h"

#include <memory>

namespace mqbridge::rsp {

struct OpenTransport {
  std::unique_ptr<Transport> transport;
  Watch watch;
};

/// Connects, or starts the endpoint's command. The guardian watches the socket from before
/// connect() or spawn. Errors: connect.refused, connect.timeout, connect.unresolved,
/// connect.failed, interrupted; those of
/// Guardian::watch.
Result<OpenTransport> open_transport(const Endpoint& endpoint, const ConnectLimits& limits,
                                     Guardian* guardian);

} // namespace mqbridge::rsp
