// jobs_bench: whole jobs, found, reached, dumped and let go by mqbridge itself. Each answer is
// compared with what the ranks say that they posted before its time counts.

#include "bench/jobs/crowd.h"
#include "bench/jobs/held_watch.h"
#include "rsp/seconds.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/oracle.h"
#include "tests/support/environment_variable.h"
#include "tests/support/eventually.h"
#include "tests/support/process_table.h"
#include "tests/support/temp_directory.h"

#include <algorithm>
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <optional>

namespace {

using namespace std::chrono_literals;
using namespace mqbridge;
using namespace mqbridge::bench;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

double seconds(Clock::duration time) {
  return in_seconds(time);
}

/// What is wrong with the dump of a rank; empty: nothing.
std::string wrong_with(const json& rank, const e2e::Oracle& oracle) {
  if (rank["status"] != "ok")
    return fmt::format("{}: {}", rank["endpoint"].dump(), rank["errors"].dump());
  const auto differences = e2e::differences(oracle, rank);
  return differences.empty() ? "" : differences.front();
}

std::string wrong_with(const e2e::DumpOutcome& dump, const e2e::MpiJob& job) {
  if (dump.status() != 0)
    return fmt::format("exit status {}: {}", dump.status(), dump.err);
  const json& ranks = dump.document["ranks"];
  if (ranks.size() != static_cast<std::size_t>(job.ranks()))
    return fmt::format("{} ranks of {}", ranks.size(), job.ranks());
  for (int number = 0; number < job.ranks(); ++number) {
    const json& rank = ranks[static_cast<std::size_t>(number)];
    const auto wrong = rank["rank"] == number
                           ? wrong_with(rank, e2e::read_oracle(job.directory(), number))
                           : "the ranks are out of order";
    if (!wrong.empty())
      return wrong;
  }
  return "";
}

std::vector<pid_t> pids_of(const e2e::MpiJob& job) {
  std::vector<pid_t> pids;
  for (int rank = 0; rank < job.ranks(); ++rank)
    pids.push_back(job.pid(rank));
  return pids;
}

/// The longest time for which a rank was stopped, as mqbridge says.
double most_stopped_ms(const json& document) {
  double most = 0;
  for (const json& rank : document["ranks"])
    most = std::max(most, rank.value("stopped_ms", 0.0));
  return most;
}

/// A real job of Open MPI, asleep with operations pending, found by its mpirun. `fresh`: nothing is
/// known of its files from earlier dumps.
void dump_by_mpirun(benchmark::State& state, bool fresh) {
  e2e::MpiJob job({.arguments = {"mix"}, .ranks = static_cast<int>(state.range(0))});
  double stopped_ms = 0;
  std::chrono::milliseconds held{0};
  std::optional<test::TempDirectory> caches;
  for (auto _ : state) {
    if (fresh || !caches)
      caches.emplace();
    const test::EnvironmentVariable cache("XDG_CACHE_HOME", caches->path().string());
    HeldWatch watch(pids_of(job));
    const auto begin = Clock::now();
    const auto dump = e2e::dump_json({"--mpirun", std::to_string(job.launcher())});
    state.SetIterationTime(seconds(Clock::now() - begin));
    held = std::max(held, watch.longest());
    if (const auto wrong = wrong_with(dump, job); !wrong.empty())
      return state.SkipWithError(wrong.c_str());
    stopped_ms = std::max(stopped_ms, most_stopped_ms(dump.document));
  }
  state.counters["stopped_ms"] = stopped_ms;
  state.counters["seen_held_ms"] = static_cast<double>(held.count());
  if (const auto wrong = job.finish(); !wrong.empty())
    state.SkipWithError(wrong.c_str());
}

/// The memory of mqbridge and of the programs that work for it. Shared memory counts once.
std::uint64_t memory_kib(pid_t mqbridge) {
  std::vector<pid_t> family = test::descendants_of(mqbridge);
  std::erase_if(family, [](pid_t pid) { return !test::process_name(pid).starts_with("mqbridge"); });
  family.push_back(mqbridge);
  std::uint64_t sum = 0;
  for (const pid_t pid : family) {
    std::ifstream rollup(fmt::format("/proc/{}/smaps_rollup", pid));
    for (std::string word; rollup >> word;) {
      std::uint64_t kib = 0;
      if (word == "Pss:" && rollup >> kib)
        sum += kib;
    }
  }
  return sum;
}

/// Not with -o: what that names appears when it is complete.
test::ChildSpec dump_into(const std::filesystem::path& output, const Crowd& crowd) {
  test::ChildSpec spec = e2e::mqbridge_command({"dump", "--targets", crowd.targets().string(),
                                                "--format", "ndjson", "--connect-timeout", "5"});
  spec.argv.insert(spec.argv.begin(), {"sh", "-c", "exec \"$@\" > \"$0\"", output.string()});
  return spec;
}

/// Of an NDJSON output that grows: how many ranks are in it that are complete.
class GrowingOutput {
public:
  explicit GrowingOutput(const std::filesystem::path& path) : path_(path) {}

  int complete() {
    if (!in_.is_open())
      in_.open(path_, std::ios::binary);
    in_.clear(); // it was at the end
    for (std::string piece; std::getline(in_, piece);) {
      line_ += piece;
      if (in_.eof())
        break;
      complete_ += line_.find("\"type\":\"rank\"") != std::string::npos &&
                   line_.find("\"status\":\"ok\"") != std::string::npos;
      line_.clear();
    }
    return complete_;
  }

private:
  std::filesystem::path path_;
  std::ifstream in_;
  std::string line_;
  int complete_ = 0;
};

/// Every good rank says what its process posted; every other one, what its node has.
std::string wrong_with(const std::filesystem::path& output, const Crowd& crowd) {
  std::map<int, e2e::Oracle> oracles;
  for (int rank = 0; rank < Crowd::ranks_a_node; ++rank)
    oracles[rank] = e2e::read_oracle(crowd.oracles(), rank);
  std::map<std::string, int> failed;
  int good = 0;
  std::ifstream in(output);
  for (std::string line; std::getline(in, line);) {
    const json rank = json::parse(line, nullptr, false);
    if (!rank.is_object() || rank.value("type", "") != "rank")
      continue;
    if (rank["status"] == "failed") {
      ++failed[rank["host"]];
      continue;
    }
    if (auto wrong = wrong_with(rank, oracles[rank["rank"]]); !wrong.empty())
      return wrong;
    ++good;
  }
  if (good != crowd.good_ranks())
    return fmt::format("{} complete ranks of {}", good, crowd.good_ranks());
  const std::map<std::string, int> expected = {{crowd.dead(), Crowd::ranks_a_node},
                                               {crowd.silent(), Crowd::ranks_a_node}};
  return failed == expected ? "" : "other nodes failed than the dead and the silent one";
}

/// The time is that in which all ranks of the nodes that answer were there.
void dump_crowd(benchmark::State& state) {
  const Crowd crowd(static_cast<int>(state.range(0)));
  const test::TempDirectory directory;
  const test::EnvironmentVariable cache("XDG_CACHE_HOME", (directory / "cache").string());
  std::uint64_t most_kib = 0;
  double to_the_end = 0;
  for (auto _ : state) {
    const auto output = directory / "output";
    std::filesystem::remove(output);
    const auto begin = Clock::now();
    test::ChildProcess dump(dump_into(output, crowd));
    GrowingOutput growing(output);
    std::optional<Clock::time_point> all_there;
    const bool ended = test::eventually(
        120s,
        [&] {
          most_kib = std::max(most_kib, memory_kib(dump.pid()));
          if (!all_there && growing.complete() == crowd.good_ranks())
            all_there = Clock::now();
          return dump.wait(0ms).has_value();
        },
        100ms);
    to_the_end = std::max(to_the_end, seconds(Clock::now() - begin));
    auto wrong = ended ? wrong_with(output, crowd) : "it does not end";
    if (!wrong.empty())
      return state.SkipWithError((wrong + "\n" + dump.err()).c_str());
    state.SetIterationTime(seconds(all_there.value_or(Clock::now()) - begin));
  }
  state.counters["to_the_end_s"] = to_the_end;
  state.counters["memory_mib"] = static_cast<double>(most_kib) / 1024;
}

void first_dump(benchmark::State& state) {
  dump_by_mpirun(state, true);
}

/// A dump each minute of a job stops a rank once a minute, for no longer than `stopped_ms`.
void dump_again(benchmark::State& state) {
  dump_by_mpirun(state, false);
}

BENCHMARK(first_dump)->Arg(64)->Iterations(3)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(dump_again)
    ->Arg(16)
    ->Arg(64)
    ->Iterations(5)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(dump_crowd)->Arg(100)->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);

} // namespace
