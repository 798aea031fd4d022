#pragma once

#include "bench/queue_walk/cell.h"
#include "bench/queue_walk/measured.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge::bench {

/// Predicts how long a contender takes from runs with less work.
///
/// The cost of a run has three parts: its time without a link, and its round trips and bytes on the
/// link. So a run over one link tells about another one. Each part is taken to grow in a straight
/// line with the number of operations, for which runs with two different numbers must be known.
class Predictor {
public:
  void learn(const std::string& contender, const Cell& cell, const Measured& cost);

  /// Seconds; nullopt: too little is known.
  std::optional<double> predict(const std::string& contender, const Cell& cell) const;

private:
  struct Known {
    Cell cell;
    double without_link_s = 0;
    double round_trips = 0;
    double bytes = 0;
  };
  const Known* nearest(const std::string& contender, const Cell& cell,
                       std::uint64_t most_operations) const;
  static double seconds(const Known& known, const LinkSpec& link);

  std::map<std::string, std::vector<Known>> known_;
};

} // namespace mqbridge::bench
