#pragma once

#include "rsp/exchange/exchange_limits.h"
#include "rsp/exchange/frame_link.h"
#include "rsp/exchange/holds.h"
#include "rsp/exchange/pairing.h"
#include "rsp/packet/codec.h"
#include "rsp/result.h"

#include <optional>
#include <string>
#include <string_view>

namespace mqbridge::rsp {

/// Asks questions, and takes the replies as they come: waits within the limits, acknowledges, and
/// skips packets that are no reply (console output, notifications, replies to requests that were
/// given up). The callers decide how many questions are on their way at once.
///
/// Knows four parts of the connection and owns none. One thread at a time.
class Dialogue {
public:
  using Clock = Transport::Clock;

  Dialogue(FrameLink& link, ExchangeLimits& limits, Holds& holds, Pairing& pairing)
      : link_(link), limits_(limits), holds_(holds), pairing_(pairing) {}

  /// `+` goes out with the first packet: it ends a packet that an earlier client left half done.
  void greet();
  /// To be called before each exchange. Drops bytes that came although nothing was asked: true if a
  /// packet was among them. Errors: target.running, guardian.released, stop.limit, interrupted,
  /// stub.garbage.
  Result<bool> begin();

  /// The packet leaves with the next flush of the link.
  Result<void> ask(std::string_view payload);
  /// The next reply. Its bytes are the link's, until the next wait.
  Result<std::string_view> reply(ReplyWait& wait);
  /// ask() and reply(). The `+` to the reply leaves with the next request: alone it would cost
  /// 40 ms behind a relay with Nagle's algorithm.
  Result<std::string_view> exchange(std::string_view payload);

  /// For callers that take the events of the link themselves. False: nothing came until `at_most`,
  /// or a limit has changed.
  Result<bool> receive(ReplyWait& wait, Clock::time_point at_most = Clock::time_point::max());

private:
  using Taken = std::optional<Result<std::string_view>>;
  bool skip_leftovers();
  Taken take(const Decoder::Event& event, ReplyWait& wait);
  Taken take_packet(std::string_view payload, const ReplyWait& wait);
  Taken take_corrupt(ReplyWait& wait);
  Taken take_nack(ReplyWait& wait);
  Taken take_garbage(const Decoder::Event& event, ReplyWait& wait);
  Taken take_too_long(const ReplyWait& wait);
  void acknowledge(const ReplyWait& wait);
  Failure garbage(const ReplyWait& wait, std::string_view bytes) const;
  Failure closed(const ReplyWait& wait, std::string_view how);
  Result<Clock::time_point> patience(const ReplyWait& wait) const;
  Result<void> look_for_guardian();

  FrameLink& link_;
  ExchangeLimits& limits_;
  Holds& holds_;
  Pairing& pairing_;
  bool greeting_ = false; ///< nothing has come since greet()
};

} // namespace mqbridge::rsp
