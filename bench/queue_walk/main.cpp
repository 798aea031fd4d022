// queue_walk_bench [--quick] [--out FILE.json] [--trace FILE] ...
//
// How long mqbridge and its peers take to walk a queue, one axis varied at a time around a base
// case. Results as Google Benchmark's JSON, which bench/report/ makes a page of.

#include "bench/queue_walk/own_dump.h"
#include "bench/queue_walk/peer_run.h"
#include "bench/queue_walk/runner.h"
#include "bench/queue_walk/stage.h"
#include "tests/e2e/harness/target_programs.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <fstream>

namespace {

using namespace mqbridge;
using namespace mqbridge::bench;

struct Arguments {
  bool quick = false;
  bool list = false;
  bool no_peers = false;
  int repeats = 0;
  double patience_s = 0;
  double budget_min = 0;
  std::vector<std::string> only;
  std::string out = "queue_walk.json";
  std::string trace;
};

void describe(CLI::App& app, Arguments& arguments) {
  app.add_flag("--quick", arguments.quick, "fewer cells and repeats: about ten minutes");
  app.add_flag("--list", arguments.list, "print the cells, and end");
  app.add_flag("--no-peers", arguments.no_peers, "mqbridge alone");
  app.add_option("--repeats", arguments.repeats,
                 "of each run (20, of long ones 5; with --quick 5 and 2)");
  app.add_option("--budget", arguments.budget_min,
                 "minutes; what comes later is repeated as long runs are (35; 3 with --quick)");
  app.add_option("--patience", arguments.patience_s,
                 "seconds; what is predicted to take longer is not run (10; 3 with --quick)");
  app.add_option("--only", arguments.only,
                 "cells whose name has this in it (repeatable); without smaller ones among them a "
                 "long one is not predicted but run");
  app.add_option("--out", arguments.out, "Google Benchmark's JSON");
  app.add_option("--trace", arguments.trace, "packets of one dump of the base case at 10 ms");
}

std::vector<Cell> chosen_cells(const Arguments& arguments) {
  std::vector<Cell> chosen;
  for (const auto& cell : all_cells(arguments.quick)) {
    const auto in_name = [&](const std::string& part) {
      return cell.name().find(part) != std::string::npos;
    };
    if (arguments.only.empty() ||
        std::any_of(arguments.only.begin(), arguments.only.end(), in_name))
      chosen.push_back(cell);
  }
  return chosen;
}

std::vector<Contender> all_contenders(const Arguments& arguments, CacheStates& states,
                                      const test::TempDirectory& directory) {
  auto all = own_contenders(states);
  if (arguments.no_peers)
    return all;
  const auto tools = PeerTools::prepare(directory.path());
  if (!tools) {
    fmt::print(stderr, "no peers: {}\n  {}\n", tools.error().message, tools.error().hint);
    return all;
  }
  std::vector<std::string> left_out;
  for (auto& peer : peer_contenders(*tools, left_out))
    all.push_back(std::move(peer));
  for (const auto& reason : left_out)
    fmt::print(stderr, "left out: {}\n", reason);
  return all;
}

/// For the picture of what goes over the link, and when.
Result<void> trace_base_case(CacheStates& states, const std::string& file) {
  const Cell base{.link = {.round_trip = std::chrono::milliseconds(10)}};
  auto trace = rsp::Trace::open(file);
  if (!trace)
    return forward(std::move(trace));
  Stage stage(base);
  const OwnDump own(CacheMode::full, Knowledge::build, states);
  if (auto dumped = own.run(stage, base, trace->get()); !dumped)
    return forward(std::move(dumped));
  return (*trace)->close();
}

void start_google_benchmark() {
  // The library keeps a pointer to the first.
  static std::vector<std::string> words = {"queue_walk_bench",
                                           "--benchmark_enable_random_interleaving=true",
                                           "--benchmark_counters_tabular=false"};
  std::vector<char*> argv;
  for (auto& word : words)
    argv.push_back(word.data());
  int argc = static_cast<int>(argv.size());
  benchmark::Initialize(&argc, argv.data());
}

RunnerOptions runner_options(const Arguments& arguments) {
  RunnerOptions options;
  double budget_min = 35;
  if (arguments.quick) {
    options.repeats = {.ordinary = 5, .long_s = 2, .of_long = 2};
    options.most_patience_s = 3;
    budget_min = 3;
  }
  if (arguments.repeats > 0)
    options.repeats = {.ordinary = arguments.repeats, .of_long = std::min(arguments.repeats, 5)};
  if (arguments.patience_s > 0)
    options.most_patience_s = arguments.patience_s;
  if (arguments.budget_min > 0)
    budget_min = arguments.budget_min;
  options.hurry_after =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(
                         std::chrono::duration<double, std::ratio<60>>(budget_min));
  return options;
}

int run(const Arguments& arguments) {
  const auto cells = chosen_cells(arguments);
  if (arguments.list || cells.empty()) {
    for (const auto& cell : all_cells(arguments.quick))
      fmt::print("{}\n", cell.name());
    return cells.empty() ? 2 : 0;
  }
  std::ofstream out(arguments.out);
  if (!out) {
    fmt::print(stderr, "queue_walk_bench: cannot write {}\n", arguments.out);
    return 2;
  }
  start_google_benchmark();
  // Where they are depends on the cache directory, which is another one for each dump from here on.
  setenv("MQBRIDGE_TARGETS", e2e::target_files("").c_str(), 0);
  CacheStates states;
  const test::TempDirectory directory;
  const auto contenders = all_contenders(arguments, states, directory);
  MergedJson reporter(out);
  Runner runner(runner_options(arguments), contenders, reporter);
  for (const auto& cell : cells)
    runner.run(cell);
  reporter.finish();
  if (const auto traced =
          arguments.trace.empty() ? Result<void>{} : trace_base_case(states, arguments.trace);
      !traced) {
    fmt::print(stderr, "queue_walk_bench: no trace: {}\n", traced.error().message);
    return 1;
  }
  return reporter.failures() == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app{"How long mqbridge and its peers take to walk a queue"};
  Arguments arguments;
  describe(app, arguments);
  CLI11_PARSE(app, argc, argv);
  try {
    return run(arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "queue_walk_bench: {}\n", error.what());
    return 1;
  }
}
