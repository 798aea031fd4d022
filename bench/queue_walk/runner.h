#pragma once

#include "bench/queue_walk/cell.h"
#include "bench/queue_walk/contender.h"
#include "bench/queue_walk/plan_repeats.h"
#include "bench/queue_walk/prediction.h"
#include "bench/queue_walk/reporter.h"

#include <optional>
#include <string>
#include <vector>

namespace mqbridge::bench {

struct RunnerOptions {
  Repeats repeats;
  double most_patience_s = 1e9; ///< no cell has more patience
  /// After this moment every run is repeated as seldom as a long one.
  Clock::time_point hurry_after = Clock::time_point::max();
};

/// Runs every contender in every cell. It runs each once, to see that its answer is right and how
/// long it takes, then all contenders of a cell in random order, as often as asked. A contender
/// that is predicted to take longer than the cell's patience is not run; its prediction is reported
/// as "predicted". If nothing is known about a contender, it first runs without the cell's link, so
/// that it can be predicted.
class Runner {
public:
  Runner(const RunnerOptions& options, const std::vector<Contender>& contenders,
         MergedJson& reporter)
      : options_(options), contenders_(contenders), reporter_(reporter) {}

  void run(const Cell& cell);

private:
  std::optional<double> predict(Stage& stage, const Cell& cell, const Contender& contender);
  void enter(Stage& stage, const Cell& cell, const Contender& contender);
  void register_runs(Stage& stage, const Cell& cell, const Contender& contender, double seconds);
  void register_outcome(const std::string& name, double seconds, const std::string& label,
                        const std::string& error);
  std::string agree(const AnswerKey& answer);

  RunnerOptions options_;
  const std::vector<Contender>& contenders_;
  MergedJson& reporter_;
  Predictor predictor_;
  std::string checksum_; ///< of the cell's answer, as the first contender gave it
};

} // namespace mqbridge::bench
