#pragma once

#include "rsp/link_estimate.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>

namespace mqbridge::rsp {

/// Bytes of a reply whose own time on the link does not count: what a packet of the network takes.
inline constexpr std::size_t longest_short_reply = 1024;

/// Learns from the exchanges of a connection how fast its link and stub are. No clock, no I/O.
///
/// The round trip is the shortest of the last exchanges that waited for one short reply. What a
/// request and a byte cost beyond it comes from the bursts, by least squares: `time = requests x
/// per_request + bytes / rate`. Older bursts count less and less.
class LinkMeter {
public:
  using Duration = std::chrono::steady_clock::duration;

  /// What the start of a serial line tells: bytes of memory a second. It counts until a burst tells
  /// better.
  void expect_rate(double bytes_per_second) { expected_rate_ = bytes_per_second; }

  /// One short request and its reply.
  void round_trip(Duration time);

  /// `requests` pipelined ones that brought `bytes` of memory in `time` beyond a round trip. Too
  /// small ones are not counted.
  void burst(std::size_t requests, std::size_t bytes, Duration time);

  /// All replies of a burst, `received` bytes on the link with `bytes` of memory in them (which are
  /// more where memory is zeros), came `time` beyond a round trip. Where that is too quick to be
  /// measured, and too much for a slow link, it says how fast the link is at least: that counts as
  /// long as nothing is measured. Who reads page by page would never learn more.
  ///
  /// Otherwise it says how fast the link itself is. Of a slow one no more is expected, however
  /// quickly zeros came.
  void came(std::size_t received, std::size_t bytes, Duration time);

  LinkEstimate estimate() const;

private:
  struct Slopes {
    double per_request = 0;
    double per_byte = 0;
  };
  Slopes slopes() const;
  double shortest() const;

  static constexpr std::size_t kept = 16;
  std::array<double, kept> round_trips_{};
  std::size_t round_trip_count_ = 0;
  std::optional<double> expected_rate_;
  double least_rate_ = 0; ///< of bursts too quick to be measured
  double wire_rate_ = 0;  ///< bytes a second on the link, whatever they say; the best of late
  // Weighted sums over the bursts: requests, bytes and time with each other.
  double requests_requests_ = 0;
  double requests_bytes_ = 0;
  double bytes_bytes_ = 0;
  double requests_time_ = 0;
  double bytes_time_ = 0;
};

} // namespace mqbridge::rsp
