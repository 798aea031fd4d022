#pragma once

#include "bench/queue_walk/cell.h"
#include "bench/queue_walk/measured.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge::bench {

/// How long a contender would take, from what it took where there was less to do.
///
/// The cost of a run is what it costs without a link, and its round trips and bytes on the link: so
/// a run over one link tells of another. Between numbers of operations all three are taken to grow
/// in a straight line, which two of them must be known for.
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
