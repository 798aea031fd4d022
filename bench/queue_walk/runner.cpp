#include "bench/queue_walk/runner.h"

#include "bench/queue_walk/quantile.h"
#include "bench/queue_walk/stage.h"

#include <algorithm>
#include <benchmark/benchmark.h>
#include <fmt/format.h>

namespace mqbridge::bench {
namespace {

template <class T>
void tell(benchmark::State& state, const char* name, const std::optional<T>& value,
          double factor = 1) {
  if (value)
    state.counters[name] = static_cast<double>(*value) * factor;
}

void tell_cost(benchmark::State& state, const Measured& cost) {
  constexpr double ms = 1e3;
  state.SetIterationTime(cost.wall_s);
  state.counters["walk_ms"] = cost.walk_s * ms;
  state.counters["round_trips"] = static_cast<double>(cost.round_trips);
  state.counters["bytes"] = static_cast<double>(cost.bytes);
  tell(state, "stopped_ms", cost.stopped_s, ms);
  tell(state, "cpu_ms", cost.cpu_s, ms);
  tell(state, "far_cpu_ms", cost.far_cpu_s, ms);
  tell(state, "walk_round_trips", cost.walk_round_trips);
  tell(state, "walk_bytes", cost.walk_bytes);
  tell(state, "requests", cost.requests);
  tell(state, "pages_touched", cost.pages_touched);
  tell(state, "pages_read", cost.pages_read);
  tell(state, "peak_bytes", cost.peak_bytes);
}

double first_quartile(const std::vector<double>& samples) {
  return quantile(samples, 0.25);
}

double third_quartile(const std::vector<double>& samples) {
  return quantile(samples, 0.75);
}

} // namespace

/// Empty, or how the answer differs from that of the contenders before it.
std::string Runner::agree(const AnswerKey& answer) {
  if (answer.checksum.empty())
    return "";
  if (checksum_.empty())
    checksum_ = answer.checksum;
  return answer.checksum == checksum_
             ? ""
             : fmt::format("another answer: checksum {}, should be {}", answer.checksum, checksum_);
}

void Runner::register_outcome(const std::string& name, double seconds, const std::string& label,
                              const std::string& error) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [=](benchmark::State& state) {
                                 for (auto _ : state) {
                                   state.SetIterationTime(seconds);
                                   state.SetLabel(label);
                                   if (!error.empty())
                                     state.SkipWithError(error.c_str());
                                 }
                               })
      ->Iterations(1)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

void Runner::register_runs(Stage& stage, const Cell& cell, const Contender& contender,
                           double seconds) {
  const auto once = [this, &stage, &cell, &contender](benchmark::State& state) {
    for (auto _ : state) {
      const auto attempt = contender.run(stage, cell);
      const auto wrong =
          attempt ? cell.emulated() ? "" : agree(attempt->answer) : attempt.error().message;
      if (!wrong.empty())
        state.SkipWithError(wrong.c_str());
      else
        tell_cost(state, attempt->cost);
    }
  };
  const bool hurried = Clock::now() > options_.hurry_after;
  benchmark::RegisterBenchmark(fmt::format("{}/{}", cell.name(), contender.name).c_str(), once)
      ->Iterations(1)
      ->Repetitions(hurried ? options_.repeats.of_long : options_.repeats.of(seconds))
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond)
      ->ComputeStatistics("q1", first_quartile)
      ->ComputeStatistics("q3", third_quartile);
}

/// If no smaller cell was run before, the contender first runs without the link: a run of one
/// second there may take an hour over the link.
std::optional<double> Runner::predict(Stage& stage, const Cell& cell, const Contender& contender) {
  const auto predicted = predictor_.predict(contender.name, cell);
  const bool has_link = cell.link.round_trip.count() > 0 || cell.link.bytes_per_second > 0;
  if (predicted || !has_link)
    return predicted;
  Cell near = cell;
  near.link = {};
  if (const auto tried = contender.run(stage, near))
    predictor_.learn(contender.name, near, tried->cost);
  return predictor_.predict(contender.name, cell);
}

void Runner::enter(Stage& stage, const Cell& cell, const Contender& contender) {
  const auto name = fmt::format("{}/{}", cell.name(), contender.name);
  const auto predicted = predict(stage, cell, contender);
  if (predicted && *predicted > std::min(cell.patience_s, options_.most_patience_s)) {
    fmt::print(stderr, "   {:<110} {:>10.1f} ms, predicted\n", name, *predicted * 1e3);
    register_outcome(name, *predicted, "predicted", "");
    return;
  }
  const auto begun = Clock::now();
  const auto tried = contender.run(stage, cell);
  const std::chrono::duration<double> elapsed = Clock::now() - begun;
  const auto wrong = !tried ? tried.error().message : cell.emulated() ? "" : agree(tried->answer);
  if (!wrong.empty()) {
    register_outcome(name, 0, "", wrong);
    return;
  }
  predictor_.learn(contender.name, cell, tried->cost);
  // Includes the work before the measured part, which takes the longest over a serial line.
  register_runs(stage, cell, contender, elapsed.count());
}

void Runner::run(const Cell& cell) {
  fmt::print(stderr, "== {}\n", cell.name());
  checksum_.clear();
  if (const auto lacking = Stage::lacking(cell); !lacking.empty()) {
    fmt::print(stderr, "   left out: {}\n", lacking);
    return;
  }
  try {
    Stage stage(cell);
    for (const auto& contender : contenders_)
      if (contender.applies(cell))
        enter(stage, cell, contender);
    benchmark::RunSpecifiedBenchmarks(&reporter_, ".");
  } catch (const std::exception& error) { // the other cells' results are not lost for it
    fmt::print(stderr, "   failed: {}\n", error.what());
    benchmark::ClearRegisteredBenchmarks();
    register_outcome(cell.name(), 0, "", error.what());
    benchmark::RunSpecifiedBenchmarks(&reporter_, ".");
  }
  benchmark::ClearRegisteredBenchmarks();
}

} // namespace mqbridge::bench
