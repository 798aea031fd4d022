#include "host/dump/rank/stop_plan.h"

#include "host/memory/page_store.h"
#include "host/memory/prefetch_budget.h"

#include <algorithm>
#include <fmt/format.h>

namespace mqbridge {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr double page_bytes = PageStore::page_size;
/// One request for memory in bulk: what gdbserver answers at once.
constexpr double request_bytes = 8192;
/// Communicators, groups, the roots of the lists: memory that a walk reads beside the requests.
constexpr double other_bytes = 64 * page_bytes;
/// Fetches of Open MPI's DLL for one request, all of its fields counted.
constexpr double fetches_per_item = 14;
/// Bytes of a request of an MPI, where only pages are known.
constexpr double bytes_per_item = 700;
/// The host's time for one request: the DLL's fetches, and the operation on its way to the report.
constexpr double host_seconds_per_item = 2.5e-6;
/// Bursts that depend on each other, with and without knowing where things are.
constexpr double bursts_known = 2;
constexpr double bursts_unknown = 4;
/// Where a link is so slow that pages are read by lines.
constexpr double bursts_by_page = 1.5;
/// To start the worker and load the DLL.
constexpr double worker_seconds = 0.005;
constexpr Seconds longest_unannounced{1};
/// From this rate on, a small part of the reads shows the least speed of the rest. Bytes a second.
constexpr double fast_link = 10e6;
constexpr double small_part = 1.0 / 64;
/// The steps before the walk cost exchanges that wait for the one before, and bytes on the wire.
constexpr double start_up_exchanges = 8;
constexpr double start_up_bytes = 24 * 1024;
/// Below 2^64, whatever a process says of its requests.
constexpr double most_bytes = 1e19;

struct Amount {
  StopPlan::Basis basis = StopPlan::Basis::nothing;
  double bytes = 0;
  double items = 0;
  double there = 0; ///< of the bytes, read already
};

Amount amount(const StopFacts& facts) {
  if (const auto pages = count_pages(facts.replay); pages > 0) {
    const double bytes = static_cast<double>(pages) * page_bytes;
    return {StopPlan::Basis::replay, bytes, bytes / bytes_per_item,
            std::min(static_cast<double>(facts.pages_read) * page_bytes, bytes)};
  }
  if (facts.extent)
    return {StopPlan::Basis::extent, static_cast<double>(facts.extent->bytes) + other_bytes,
            static_cast<double>(facts.extent->items)};
  return {};
}

double walk_seconds(const StopFacts& facts, const Amount& amount) {
  const auto& link = facts.link;
  const double bytes = amount.bytes - amount.there;
  switch (facts.cache) {
  case CacheMode::none:
    return amount.items * fetches_per_item * link.burst(8);
  case CacheMode::page:
    return bytes / page_bytes * link.burst(page_bytes);
  case CacheMode::full:
    break;
  }
  const bool known = amount.basis == StopPlan::Basis::replay;
  const double bursts = known           ? bursts_known
                        : is_slow(link) ? std::max(bytes / page_bytes * bursts_by_page, 1.0)
                                        : bursts_unknown;
  return (bursts - 1) * link.round_trip + link.burst(bytes, bytes / request_bytes);
}

} // namespace

StopPlan plan_stop(const StopFacts& facts) {
  const auto needed = amount(facts);
  StopPlan plan;
  plan.basis = needed.basis;
  plan.bytes = static_cast<std::uint64_t>(std::min(needed.bytes, most_bytes));
  const double reading = walk_seconds(facts, needed);
  const double computing = needed.items * host_seconds_per_item;
  // Pages of a burst are looked at as they come.
  plan.walk =
      Seconds(worker_seconds + (facts.cache == CacheMode::full ? std::max(reading, computing)
                                                               : reading + computing));
  plan.is_upper_bound =
      facts.link.bytes_per_second > fast_link &&
      static_cast<double>(facts.pages_read) * page_bytes < needed.bytes * small_part;
  plan.held = facts.held_so_far + plan.walk + Seconds(facts.link.round_trip);
  return plan;
}

Seconds start_up_time(const rsp::LinkEstimate& link) {
  if (link.bytes_per_second <= 0)
    return {};
  return Seconds(start_up_exchanges * link.round_trip + start_up_bytes / link.bytes_per_second);
}

std::optional<Error> long_stop_warning(const StopPlan& plan,
                                       std::optional<std::chrono::milliseconds> max_stop) {
  if (plan.basis == StopPlan::Basis::nothing || plan.held < longest_unannounced ||
      (max_stop && plan.held <= *max_stop))
    return std::nullopt;
  auto text = fmt::format("the target will be held {} {:.1f} s: {:.1f} MB to read for its queues",
                          plan.is_upper_bound ? "up to" : "about", plan.held.count(),
                          static_cast<double>(plan.bytes) / 1e6);
  if (max_stop)
    return Error{"stop.long", text + "; --max-stop will end that before",
                 "give it more time, or look at less: --queue receive"};
  return Error{"stop.long", std::move(text),
               "to bound it: --max-stop S; to look at less: --queue receive"};
}

std::optional<Error> long_start_warning(Seconds start_up,
                                        std::optional<std::chrono::milliseconds> max_stop) {
  if (start_up < longest_unannounced || (max_stop && start_up <= *max_stop))
    return std::nullopt;
  auto text = fmt::format("the line is slow: the target will be held about {:.1f} s before its "
                          "queues are looked at",
                          start_up.count());
  if (max_stop)
    return Error{"stop.long", text + ", longer than --max-stop allows", "give it more time"};
  return Error{"stop.long", std::move(text), "to bound it: --max-stop S"};
}

} // namespace mqbridge
