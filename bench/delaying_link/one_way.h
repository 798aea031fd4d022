#pragma once

#include "bench/delaying_link/line.h"

#include <cstddef>
#include <deque>
#include <string>

namespace mqbridge::bench {

/// The bytes that are under way from one socket to another. Neither socket is owned; both are
/// non-blocking. One thread.
class OneWay {
public:
  OneWay(const LinkSpec& spec, int from, int into) : line_(spec), from_(from), into_(into) {}

  int from() const { return from_; }
  int into() const { return into_; }

  /// Takes the bytes that the sender has. They count as given to the line when they came. False:
  /// there were none.
  bool take();
  /// Hands over the bytes that have arrived by `now`, and returns their number. When the sender has
  /// ended, and everything has arrived, the receiver is told the end, too.
  std::size_t deliver(Clock::time_point now);

  /// Whether take() wants more bytes. The bytes that wait for the line are bounded, as the buffers
  /// of a real sender are.
  bool takes() const { return !ended_ && !broken_ && queued_ < most_queued; }
  /// Whether bytes that have arrived wait for room at the receiver.
  bool blocked() const { return blocked_; }
  /// When deliver() has the next thing to do; time_point::max(): nothing is under way.
  Clock::time_point next() const;
  /// Whether something was delivered just before. The next bytes may be as late as a sleep is: such
  /// delays do not add up, and to wait awake for each piece of a stream would cost a processor.
  bool flows(Clock::time_point now) const { return now - delivered_ < still_flowing; }
  /// Everything is delivered, the end included.
  bool done() const { return broken_ || closed_; }
  /// One of the sockets failed: nothing goes this way any more.
  bool broken() const { return broken_; }

private:
  struct Chunk {
    std::string bytes;
    std::size_t sent = 0;
    Clock::time_point begins;
  };
  /// Sends up to `arrived` bytes of the first chunk. Returns how many the receiver took.
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
