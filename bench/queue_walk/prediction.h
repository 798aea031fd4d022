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
/// The cost of a run is what it costs without a link, and its round trips and bytes on the link.
/// All three are taken to grow as the operations do.
class Predictor {
public:
  void learn(const std::string& contender, const Cell& cell, const Measured& cost);

  /// Seconds; nullopt: nothing smaller of the kind was measured.
  std::optional<double> predict(const std::string& contender, const Cell& cell) const;

private:
  struct Known {
    Cell cell;
    Measured cost;
  };
  static double scaled(const Known& known, const Cell& cell);

  std::map<std::string, std::vector<Known>> known_;
};

} // namespace mqbridge::bench
