#pragma once

#include "bench/delaying_link/line.h"

#include <cstddef>
#include <deque>
#include <string>

namespace mqbridge::bench {

/// What is under way from one socket to another. Neither is owned; both are non-blocking. One
/// thread.
class OneWay {
public:
  OneWay(const LinkSpec& spec, int from, int into) : line_(spec), from_(from), into_(into) {}

  int from() const { return from_; }
  int into() const { return into_; }

  /// Takes what the sender has, as given to the line when it came. False: there was nothing.
  bool take();
  /// Hands over what has arrived by `now`: so many bytes; at the sender's end, and once all has
  /// arrived, the receiver is told the end too.
  std::size_t deliver(Clock::time_point now);

  /// Whether take() has something to wait for: what queues before the line is bounded, as the
  /// buffers of a real sender are.
  bool takes() const { return !ended_ && !broken_ && queued_ < most_queued; }
  /// Whether what has arrived waits for room at the receiver.
  bool blocked() const { return blocked_; }
  /// When deliver() has the next thing to do; time_point::max(): nothing is under way.
  Clock::time_point next() const;
  /// Something was delivered just before. What follows it may be as late as sleeps are, which does
  /// not add up: were it waited for awake, a stream would cost a processor.
  bool flows(Clock::time_point now) const { return now - delivered_ < still_flowing; }
  /// All is delivered, the end too.
  bool done() const { return broken_ || closed_; }
  /// One of the sockets failed: nothing goes this way any more.
  bool broken() const { return broken_; }

private:
  struct Chunk {
    std::string bytes;
    std::size_t sent = 0;
    Clock::time_point begins;
  };
  /// Up to `arrived` bytes of the first chunk: how many went.
  std::size_t send_first(std::size_t arrived);

  static constexpr std::size_t most_queued = 4U << 20U;
  static constexpr std::chrono::microseconds still_flowing{500};

  Line line_;
  int from_;
  int into_;
  std::deque<Chunk> chunks_;
  std::size_t queued_ = 0;
  Clock::time_point delivered_; ///< the last time
  Clock::time_point end_;       ///< when the sender's end arrives
  bool ended_ = false;
  bool closed_ = false;
  bool broken_ = false;
  bool blocked_ = false;
};

} // namespace mqbridge::bench
