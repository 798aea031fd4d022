#pragma once

#include "rsp/exchange/link_estimate.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>

namespace mqbridge::rsp {

/// A reply of at most so many bytes fits into one packet of the network: its own time on the link
/// does not count.
inline constexpr std::size_t longest_short_reply = 1024;

/// Learns from the exchanges of a connection how fast its link and stub are. It has all three rates
/// of a connection; the comment of each says who uses it. No clock, no I/O.
///
/// Whatever disturbs a measurement makes it longer: another program that has the processor, here or
/// where the stub is. So nothing is averaged. The best of the last few exchanges count, as in
/// TCP BBR: the shortest round trip, the highest rate, the least that a request cost. A link that
/// became slower is known to be slower after as many exchanges as are kept.
class LinkMeter {
public:
  using Duration = std::chrono::steady_clock::duration;

  enum class Manner {
    pipelined, ///< all requests were on their way at once
    in_turn,   ///< each waited for the reply to the one before: it costs a round trip as well
  };
  /// Requests and their replies, and nothing else on the link meanwhile.
  struct Exchange {
    Manner manner = Manner::pipelined;
    std::size_t requests = 0;
    std::size_t bytes = 0;    ///< of memory that they brought
    std::size_t received = 0; ///< on the link; fewer where memory is zeros
    Duration time = {};       ///< from the first request to the last reply
  };

  /// The settings of a serial line give a rate at the start: bytes of memory a second. It counts
  /// until an exchange gives a better one.
  void expect_rate(double bytes_per_second) { expected_rate_ = bytes_per_second; }

  /// One short request and its reply.
  void round_trip(Duration time);

  /// The time beyond a round trip tells how fast memory comes, and how fast the link itself is. On
  /// a slow link memory is not expected to come faster than the link carries it, even if zeros did.
  /// As long as little memory was read, other replies show how fast it might come.
  void exchanged(const Exchange& exchange);

  /// Of a pipelined burst so far: bytes that have come since it began, its round trip included.
  void came(std::size_t received, Duration time);
  /// The rate at which bytes came in the last long burst, rather too low than too high: a caller
  /// uses it to owe no more than arrives in time. Bytes a second; 0: not known.
  double arrival_rate() const { return arrival_rate_; }

  /// Of a pipelined burst: `expected` bytes, as their requests lead one to expect, came within
  /// `time`. False: too little to tell.
  bool drained(std::size_t expected, Duration time);
  /// The rate of such bytes in the last long burst: it says how much must be on its way so that the
  /// stub never waits. Bytes a second; 0: not known.
  std::size_t drain_rate() const { return drain_rate_; }

  /// What the exchanges so far have shown of the link and the stub, for code that plans reads.
  LinkEstimate estimate() const;

private:
  /// The last few of something.
  template <typename Item, std::size_t kept>
  class Window {
  public:
    void add(const Item& item) { items_[count_++ % kept] = item; }
    std::span<const Item> items() const { return {items_.data(), std::min(count_, kept)}; }

  private:
    std::array<Item, kept> items_{};
    std::size_t count_ = 0;
  };
  struct Read {
    double requests = 0;
    double bytes = 0;
    double received = 0; ///< on the link
    double time = 0;     ///< seconds beyond a round trip
    double rate() const { return bytes / time; }
  };

  double shortest() const;
  double memory_rate() const;
  double wire_rate() const; ///< 0: not known
  double request_time(double bytes_per_second) const;

  static constexpr std::size_t round_trips_kept = 16;
  static constexpr std::size_t exchanges_kept = 8;
  Window<double, round_trips_kept> round_trips_;
  Window<double, exchanges_kept> wire_rates_; ///< bytes a second on the link, whatever they hold
  Window<Read, exchanges_kept> reads_;
  Window<Read, exchanges_kept> requests_; ///< requests that brought little memory each
  std::optional<double> expected_rate_;
  Manner manner_ = Manner::pipelined; ///< of the last exchange
  double arrival_rate_ = 0;
  std::size_t drain_rate_ = 0;
};

} // namespace mqbridge::rsp
