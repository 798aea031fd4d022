#pragma once

#include "rsp/client/features.h"
#include "rsp/exchange/connection.h"
#include "rsp/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace mqbridge::rsp {

/// The reply to qSupported. What is missing, malformed or absurd gets the default: stubs lie, and
/// LLDB announces PacketSize in decimal.
Features parse_features(std::string_view reply);

/// Further questions behind the negotiation, for stubs that take them in the same burst.
class Opening {
public:
  virtual ~Opening() = default;
  virtual std::vector<std::string> questions(const Features& features) = 0;
  /// Each answer as it comes: the connection may be lost before the next one. May not exchange
  /// anything.
  virtual void heard(const Features& features, const std::string& question, std::string answer) = 0;
};

/// The first packets of a connection: qSupported, QStartNoAckMode, and harmless probes, which also
/// tell what kind of stub it is (rsp/client/quirks.h). They take two round trips, and in ack mode,
/// in which a slow line stays, one more for each probe. A stub that is known to take it
/// (Quirks::no_ack_in_burst) gets all packets behind qSupported in one burst, with the questions of
/// `opening`; other stubs are not asked these. Errors: those of Connection, and stub.not_a_stub for
/// a server that is no stub.
Result<Features> negotiate(Connection& connection, Opening& opening);

/// For a gdbserver that has forgotten the negotiation, as it does when it refuses to attach: brings
/// it back on the same connection. False: it is another server than before, or none.
Result<bool> negotiate_again(Connection& connection, const Features& features);

} // namespace mqbridge::rsp
