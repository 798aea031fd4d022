#pragma once

#include "rsp/exchange/dialogue.h"
#include "rsp/exchange/frame_link.h"
#include "rsp/exchange/link_meter.h"
#include "rsp/exchange/pairing.h"
#include "rsp/result.h"

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

namespace mqbridge::rsp {

/// Makes requests and replies pair again after a reply came twice or was lost: drops everything on
/// its way until the stub is silent, then asks a question whose answer is never mistaken for
/// another one. Knows parts of the connection and owns none.
class StepFinder {
public:
  using Clock = Transport::Clock;

  /// A question, and how its answer is told from all others.
  struct Marker {
    std::string question;
    std::function<bool(std::string_view)> is_answer;
  };

  StepFinder(FrameLink& link, Dialogue& dialogue, Pairing& pairing, const ExchangeLimits& limits,
             const LinkMeter& meter)
      : link_(link), dialogue_(dialogue), pairing_(pairing), limits_(limits), meter_(meter) {}

  /// Afterwards the stub owes nothing. `limit`: max() for no other limit than the stub's silence.
  /// Errors: stub.garbage (it never gets into step), those of an exchange.
  Result<void> find(const Marker& marker, std::chrono::milliseconds limit);

private:
  Result<void> discard_until_quiet(const Marker& marker, std::chrono::milliseconds pause,
                                   Clock::time_point give_up);
  Result<bool> marker_is_next(const Marker& marker, std::chrono::milliseconds pause,
                              Clock::time_point give_up);
  bool take_marker(const Marker& marker);

  FrameLink& link_;
  Dialogue& dialogue_;
  Pairing& pairing_;
  const ExchangeLimits& limits_;
  const LinkMeter& meter_;
};

} // namespace mqbridge::rsp
