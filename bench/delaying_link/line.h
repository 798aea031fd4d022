#pragma once

#include "rsp/seconds.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace mqbridge::bench {

using Clock = std::chrono::steady_clock;

/// The length and width of a link. Each way takes half of the round trip, and carries so many bytes
/// a second.
struct LinkSpec {
  std::chrono::nanoseconds round_trip{0};
  double bytes_per_second = 0; ///< 0: no limit

  /// A serial line: a start and a stop bit to each byte.
  static constexpr double of_baud(double baud) { return baud / 10; }
  static constexpr double of_bits(double bits_per_second) { return bits_per_second / 8; }
};

/// One direction of a link. A byte waits until the bytes before it are on the line, takes its own
/// time to be put there, and arrives a delay later. Pure computation; one thread.
class Line {
public:
  explicit Line(const LinkSpec& spec)
      : delay_(spec.round_trip / 2),
        seconds_per_byte_(spec.bytes_per_second > 0 ? 1 / spec.bytes_per_second : 0) {}

  /// Puts bytes on the line that are given to it at `now`. Returns when the first of them begins.
  Clock::time_point begin(Clock::time_point now, std::size_t bytes) {
    const auto begins = std::max(now, free_);
    free_ = begins + on_line(bytes);
    return begins;
  }

  /// When `bytes` bytes that began at `begins` have arrived.
  Clock::time_point arrival(Clock::time_point begins, std::size_t bytes) const {
    return begins + on_line(bytes) + delay_;
  }

  /// How many of `bytes` bytes that began at `begins` have arrived by `now`.
  std::size_t arrived(Clock::time_point begins, Clock::time_point now, std::size_t bytes) const {
    const double seconds = in_seconds(now - begins - delay_);
    if (seconds < 0)
      return 0;
    if (seconds_per_byte_ == 0)
      return bytes;
    // A thousandth of a byte more than there is: arrival() is rounded.
    return std::min(bytes, static_cast<std::size_t>(seconds / seconds_per_byte_ + 1e-3));
  }

  /// The bytes of 0.1 ms, at least one: for fewer it is not worth waking up.
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
