#pragma once

#include "rsp/connection.h"
#include "rsp/features.h"
#include "rsp/result.h"

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mqbridge::rsp {

/// The reply to qSupported. What is missing, malformed or absurd gets the default: stubs lie, and
/// LLDB announces PacketSize in decimal.
Features parse_features(std::string_view reply);

/// Questions and what the stub said to them.
using Answers = std::vector<std::pair<std::string, std::string>>;

struct Negotiated {
  Features features;
  Answers answers; ///< to the opening; empty where it was not asked
};

/// What follows the negotiation, for a stub of these features (rsp/opening.h).
using Opening = std::function<std::vector<std::string>(const Features&)>;

/// The first packets of a connection: qSupported, QStartNoAckMode, and harmless probes, which also
/// tell what kind of stub it is (rsp/quirks.h): two round trips, and one for each probe in ack
/// mode. All behind qSupported leaves in one burst to a stub that is known to take it
/// (Quirks::no_ack_in_burst), with `opening`, which is asked of no other. Errors: those of
/// Connection, and stub.not_a_stub for what listens and is none.
Result<Negotiated> negotiate(Connection& connection, const Opening& opening);

/// For a gdbserver that has forgotten the negotiation, as it does when it refuses to attach: brings
/// it back on the same connection. False: it is another server than before, or none.
Result<bool> negotiate_again(Connection& connection, const Features& features);

} // namespace mqbridge::rsp
