#include "bench/queue_walk/prediction.h"

#include <algorithm>
#include <tuple>

namespace mqbridge::bench {
namespace {

double on_link(const Measured& cost, const LinkSpec& link) {
  const double round_trip = std::chrono::duration<double>(link.round_trip).count();
  const double bytes = static_cast<double>(cost.bytes);
  return static_cast<double>(cost.round_trips) * round_trip +
         (link.bytes_per_second > 0 ? bytes / link.bytes_per_second : 0);
}

/// Whether what is known of one says something of the other.
bool of_a_kind(const Cell& known, const Cell& cell) {
  return known.filler == cell.filler && known.architecture == cell.architecture &&
         known.ranks == cell.ranks && known.operations <= cell.operations;
}

} // namespace

void Predictor::learn(const std::string& contender, const Cell& cell, const Measured& cost) {
  known_[contender].push_back({cell, cost});
}

double Predictor::scaled(const Known& known, const Cell& cell) {
  const double without_link =
      std::max(0.0, known.cost.wall_s - on_link(known.cost, known.cell.link));
  const double growth =
      static_cast<double>(cell.operations) / static_cast<double>(known.cell.operations);
  return growth * (without_link + on_link(known.cost, cell.link));
}

std::optional<double> Predictor::predict(const std::string& contender, const Cell& cell) const {
  const auto found = known_.find(contender);
  if (found == known_.end())
    return std::nullopt;
  const Known* best = nullptr;
  // The nearest in size; of those, of the same layout; of those, over the link most like it.
  const auto nearness = [&](const Known& known) {
    return std::tuple(known.cell.operations, known.cell.shuffled_in == cell.shuffled_in,
                      known.cell.link.round_trip <= cell.link.round_trip,
                      known.cell.link.bytes_per_second == cell.link.bytes_per_second,
                      known.cell.link.round_trip);
  };
  for (const auto& known : found->second)
    if (of_a_kind(known.cell, cell) && (best == nullptr || nearness(*best) < nearness(known)))
      best = &known;
  return best == nullptr ? std::nullopt : std::optional(scaled(*best, cell));
}

} // namespace mqbridge::bench
