#include "host/memory/prefetch_budget.h"

#include "host/memory/page_store.h"

#include <algorithm>
#include <bit>

namespace mqbridge {
namespace {

constexpr double page_bytes = PageStore::page_size;
constexpr double slow_bytes_per_second = 1.6e6;
constexpr double cheap_from = 64; // pages: by measurement, in the simulator and with a real rank
constexpr double most_in_vain_by_transfer = 0.5;
constexpr double most_in_vain_for_each = 8;
constexpr double most_in_vain_beside = double{64 << 20} / page_bytes;
constexpr double most_in_vain_when_slow = 0.5;
constexpr double most_in_vain_if_good = 4;
constexpr double good_ones_beside = 4;
/// On links that read single lines, a page costs at least this many round trips.
constexpr double round_trips_for_lines = 4;

} // namespace

double pages_in_flight(const rsp::LinkEstimate& link) {
  return (link.round_trip + link.per_request) * link.bytes_per_second / page_bytes;
}

bool is_slow(const rsp::LinkEstimate& link) {
  return link.bytes_per_second > 0 && link.bytes_per_second <= slow_bytes_per_second;
}

bool guesses_are_cheap(const rsp::LinkEstimate& link) {
  return !is_slow(link) && pages_in_flight(link) >= cheap_from;
}

std::size_t read_unit(const rsp::LinkEstimate& link) {
  const double bytes = pages_in_flight(link) * page_bytes;
  if (!is_slow(link) || bytes > page_bytes / round_trips_for_lines)
    return PageStore::page_size;
  return std::max(std::bit_ceil(static_cast<std::size_t>(bytes)), PageStore::line_size);
}

std::size_t guesses_allowed(const rsp::LinkEstimate& link, const ReadSoFar& so_far,
                            std::size_t missing, bool good_ones) {
  if (link.bytes_per_second <= 0)
    return 0;
  const auto looked_at = static_cast<double>(so_far.touched + missing);
  const double in_flight = pages_in_flight(link);
  const double by_time = looked_at * std::min(in_flight, most_in_vain_by_transfer) +
                         std::max(so_far.carried, static_cast<double>(so_far.bursts) * in_flight) +
                         in_flight;
  const double when_slow = good_ones ? most_in_vain_if_good * looked_at + good_ones_beside
                                     : most_in_vain_when_slow * looked_at;
  const double by_bytes =
      is_slow(link) ? when_slow : most_in_vain_for_each * looked_at + most_in_vain_beside;
  // If a page takes longer than a round trip, a wrong guess costs more than a right one saves.
  const double worth = std::min(in_flight, 1.0);
  const double allowed = std::min(by_time * worth, by_bytes) - static_cast<double>(so_far.guessed);
  return static_cast<std::size_t>(std::max(allowed, 0.0));
}

} // namespace mqbridge
