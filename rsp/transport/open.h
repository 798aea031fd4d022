#pragma once

#include "rsp/result.h"
#include "rsp/transport/connect.h"
#include "rsp/transport/endpoint.h"
#include "rsp/transport/guardian_watch.h"
#include "rsp/transport/transport.h"

#include <memory>

namespace mqbridge::rsp {

struct OpenTransport {
  std::unique_ptr<Transport> transport;
  GuardianWatch watch;
};

/// Connects, opens the serial line, or starts the endpoint's command. The guardian watches the
/// descriptor from before connect() or spawn, and before a line's first byte. Errors:
/// connect.refused, connect.timeout, connect.unresolved, connect.failed, connect.busy, interrupted;
/// those of Guardian::watch.
Result<OpenTransport> open_transport(const Endpoint& endpoint, const ConnectLimits& limits,
                                     Guardian* guardian);

} // namespace mqbridge::rsp
