#pragma once

#include "rsp/connection.h"
#include "rsp/features.h"
#include "rsp/result.h"

#include <string_view>

namespace mqbridge::rsp {

/// The reply to qSupported. What is missing, malformed or absurd gets the default: stubs lie, and
/// LLDB announces PacketSize in decimal.
Features parse_features(std::string_view reply);

/// The first packets of a connection: qSupported, QStartNoAckMode, and harmless probes, which also
/// tell what kind of stub it is (rsp/quirks.h): one round trip, and one for each probe in ack mode.
/// Errors: those of Connection, and stub.not_a_stub for what listens and is none.
Result<Features> negotiate(Connection& connection);

/// For a gdbserver that has forgotten the negotiation, as it does when it refuses to attach: brings
/// it back on the same connection. False: it is another server than before, or none.
Result<bool> negotiate_again(Connection& connection, const Features& features);

} // namespace mqbridge::rsp
