#pragma once

#include "rsp/exchange/link_meter.h"
#include "rsp/transport/transport.h"

#include <cstddef>

namespace mqbridge::rsp {

/// Tells the meter of the link when the replies of one burst came. No clock, no I/O.
class BurstMeasure {
public:
  using Time = Transport::Clock::time_point;

  /// `meter` is not owned.
  BurstMeasure(LinkMeter& meter, Time begun) : meter_(meter), begun_(begun) {}

  /// A reply that brought `bytes` of memory.
  void replied(Time arrived, std::size_t bytes);

  /// For a pipelined burst, after each reply. `expected`: bytes of the reply as its request leads
  /// one to expect, before run-length encoding. `received`: bytes of all replies so far, as they
  /// came. Returns whether the meter has learnt how fast the stub drains its requests.
  bool drained(Time arrived, std::size_t expected, std::size_t received);

  /// `received`: as in drained(); small where the memory holds zeros.
  void finish(LinkMeter::Manner manner, std::size_t received) const;

private:
  LinkMeter& meter_;
  Time begun_;
  Time first_{};
  Time last_{};
  std::size_t first_bytes_ = 0;
  std::size_t requests_ = 0;
  std::size_t bytes_ = 0;
  Time since_{}; ///< drained_ is counted from here; 0: from the next reply
  std::size_t drained_ = 0;
};

} // namespace mqbridge::rsp
