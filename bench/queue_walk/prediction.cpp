#include "bench/queue_walk/prediction.h"

#include "rsp/seconds.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace mqbridge::bench {
namespace {

double on_link(double round_trips, double bytes, const LinkSpec& link) {
  return round_trips * in_seconds(link.round_trip) +
         (link.bytes_per_second > 0 ? bytes / link.bytes_per_second : 0);
}

/// Seconds that a byte takes: how links of different bandwidth are compared.
double slowness(const LinkSpec& link) {
  return link.bytes_per_second > 0 ? 1 / link.bytes_per_second : 0;
}

/// Whether facts about one cell tell something about the other.
bool of_a_kind(const Cell& known, const Cell& cell) {
  return known.filler == cell.filler && known.architecture == cell.architecture &&
         known.ranks == cell.ranks;
}

} // namespace

void Predictor::learn(const std::string& contender, const Cell& cell, const Measured& cost) {
  Known known{.cell = cell,
              .round_trips = static_cast<double>(cost.round_trips),
              .bytes = static_cast<double>(cost.bytes)};
  known.without_link_s =
      std::max(0.0, cost.wall_s - on_link(known.round_trips, known.bytes, cell.link));
  known_[contender].push_back(known);
}

double Predictor::seconds(const Known& known, const LinkSpec& link) {
  return known.without_link_s + on_link(known.round_trips, known.bytes, link);
}

/// The one with the most operations; of those, of the same layout; of those, over the link most
/// like the cell's.
const Predictor::Known* Predictor::nearest(const std::string& contender, const Cell& cell,
                                           std::uint64_t most_operations) const {
  const auto nearness = [&](const Known& known) {
    return std::tuple(known.cell.operations, known.cell.shuffled_in == cell.shuffled_in,
                      known.cell.link.round_trip <= cell.link.round_trip,
                      -std::abs(slowness(known.cell.link) - slowness(cell.link)),
                      known.cell.link.round_trip);
  };
  const Known* best = nullptr;
  const auto found = known_.find(contender);
  if (found == known_.end())
    return nullptr;
  for (const auto& known : found->second)
    if (of_a_kind(known.cell, cell) && known.cell.operations <= most_operations &&
        (best == nullptr || nearness(*best) < nearness(known)))
      best = &known;
  return best;
}

std::optional<double> Predictor::predict(const std::string& contender, const Cell& cell) const {
  const Known* const near = nearest(contender, cell, cell.operations);
  if (near == nullptr)
    return std::nullopt;
  const auto operations = near->cell.operations;
  const double there = seconds(*near, cell.link);
  if (operations == cell.operations)
    return there;
  const Known* const below = nearest(contender, cell, operations - 1);
  if (below == nullptr)
    return std::nullopt;
  const double each = (there - seconds(*below, cell.link)) /
                      static_cast<double>(operations - below->cell.operations);
  return there + std::max(0.0, each) * static_cast<double>(cell.operations - operations);
}

} // namespace mqbridge::bench
