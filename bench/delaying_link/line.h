#pragma once

#include "rsp/seconds.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace mqbridge::bench {

using Clock = std::chrono::steady_clock;

/// What a link does to bytes: half the round trip each way, and as many bytes a second each way.
struct LinkSpec {
  std::chrono::nanoseconds round_trip{0};
  double bytes_per_second = 0; ///< 0: no limit

  /// A serial line: a start and a stop bit to each byte.
  static constexpr double of_baud(double baud) { return baud / 10; }
  static constexpr double of_bits(double bits_per_second) { return bits_per_second / 8; }
};

/// One way of a link: a byte leaves when the line is free of those before it, takes its time to be
/// put on the line, and arrives a delay later. Pure computation; one thread.
class Line {
public:
  explicit Line(const LinkSpec& spec)
      : delay_(spec.round_trip / 2),
        seconds_per_byte_(spec.bytes_per_second > 0 ? 1 / spec.bytes_per_second : 0) {}

  /// When bytes given to the line at `now` begin to be put on it. They are then taken to be on it.
  Clock::time_point begin(Clock::time_point now, std::size_t bytes) {
    const auto begins = std::max(now, free_);
    free_ = begins + on_line(bytes);
    return begins;
  }

  /// When the first `bytes` of what began then have arrived.
  Clock::time_point arrival(Clock::time_point begins, std::size_t bytes) const {
    return begins + on_line(bytes) + delay_;
  }

  /// How many of `bytes` that began then have arrived by `now`.
  std::size_t arrived(Clock::time_point begins, Clock::time_point now, std::size_t bytes) const {
    const double seconds = in_seconds(now - begins - delay_);
    if (seconds < 0)
      return 0;
    if (seconds_per_byte_ == 0)
      return bytes;
    // A thousandth of a byte more than there is: arrival() is rounded.
    return std::min(bytes, static_cast<std::size_t>(seconds / seconds_per_byte_ + 1e-3));
  }

  /// Bytes worth waking up for: those of 0.1 ms, and at least one.
  std::size_t step() const {
    constexpr double seconds = 1e-4;
    constexpr double most = 1 << 20;
    return seconds_per_byte_ == 0
               ? static_cast<std::size_t>(most)
               : static_cast<std::size_t>(std::clamp(seconds / seconds_per_byte_, 1.0, most));
  }

private:
  std::chrono::nanoseconds on_line(std::size_t bytes) const {
    return std::chrono::nanoseconds(
        static_cast<std::int64_t>(std::ceil(static_cast<double>(bytes) * seconds_per_byte_ * 1e9)));
  }

  std::chrono::nanoseconds delay_;
  double seconds_per_byte_;
  Clock::time_point free_{};
};

} // namespace mqbridge::bench
