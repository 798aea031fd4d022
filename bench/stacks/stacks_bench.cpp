// stacks_bench: the stacks of all threads of an MPI process, by `mqbridge stacks` and by gdb's
// `thread apply all bt`, from the start of the command to its end. The two have to find the same
// frames before their time counts.
//
// And how long a dump holds the process, as it says itself: for its queues alone, and for its
// stacks as well; and a process of mpi4py with 30 functions, without and with them.

#include "bench/delaying_link/delaying_link.h"
#include "rsp/seconds.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/support/eventually.h"
#include "tests/support/gdb_server.h"
#include "tests/support/temp_directory.h"

#include <algorithm>
#include <benchmark/benchmark.h>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <regex>
#include <span>
#include <sstream>
#include <stdexcept>

namespace {

using namespace std::chrono_literals;
using namespace mqbridge;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr auto patience = 120s;

/// Where the frames of each thread go on, innermost first, without the innermost one itself.
using Stacks = std::map<std::int64_t, std::vector<std::uint64_t>>;

/// `look` is told where the process is, behind a stub and a link; returns how long it took.
double timed(pid_t process, std::chrono::milliseconds round_trip,
             const std::function<void(const std::string& endpoint)>& look) {
  const test::GdbServer server(test::ServerMode::attach_once, process);
  const auto link = bench::DelayingLink::open(server.endpoint(), {round_trip});
  if (!link)
    throw std::runtime_error(link.error().message);
  const auto begin = Clock::now();
  look((*link)->endpoint());
  return in_seconds(Clock::now() - begin);
}

/// The process, anew behind a stub and a link for each look.
class Scene {
public:
  explicit Scene(const benchmark::State& state)
      : process_("thread_crowd", {std::to_string(state.range(0))}), round_trip_(state.range(1)) {
    if (!process_.await_spinning())
      throw std::runtime_error("the process does not come to wait in its receive");
  }

  pid_t pid() const { return process_.pid(); }
  std::string program() const { return fmt::format("/proc/{}/exe", process_.pid()); }
  double timed(const std::function<void(const std::string& endpoint)>& look) const {
    return ::timed(process_.pid(), round_trip_, look);
  }

private:
  const e2e::SingleProcess process_;
  const std::chrono::milliseconds round_trip_;
};

struct Answer {
  Stacks stacks;
  double seconds = 0;
  double stopped_ms = 0; ///< as mqbridge says
};

Answer look_with_mqbridge(const Scene& scene) {
  Answer answer;
  e2e::Outcome run;
  answer.seconds = scene.timed([&](const std::string& endpoint) {
    run = e2e::run_mqbridge({"stacks", "--threads", "all", "--format", "json", endpoint}, patience);
  });
  const auto document = json::parse(run.out, nullptr, false);
  if (run.status() != 0 || !document.is_object())
    throw std::runtime_error("mqbridge: " + run.err);
  const auto& rank = document["ranks"][0];
  answer.stopped_ms = rank.value("stopped_ms", 0.0);
  for (const auto& thread : rank["stacks"]) {
    auto& addresses = answer.stacks[std::stoll(thread["thread"].get<std::string>())];
    for (const auto& frame : thread["frames"])
      if (!frame.value("inlined", false))
        addresses.push_back(
            std::strtoull(frame["address"].get<std::string>().c_str(), nullptr, 16));
    if (!addresses.empty())
      addresses.erase(addresses.begin());
  }
  return answer;
}

/// "Thread 2 (Thread 123.456 ...):", then a line for each frame, "#3  0x00007f00 in name ...".
Stacks parse_gdb(const std::string& text) {
  static const std::regex thread_line("^Thread [0-9]+ \\(Thread (?:[0-9]+\\.)?([0-9]+).*");
  static const std::regex frame_line("^#([0-9]+) +0x([0-9a-f]+) in .*");
  Stacks stacks;
  std::vector<std::uint64_t>* addresses = nullptr;
  std::istringstream lines(text);
  std::smatch match;
  for (std::string line; std::getline(lines, line);)
    if (std::regex_match(line, match, thread_line))
      addresses = &stacks[std::stoll(match[1])];
    else if (addresses != nullptr && std::regex_match(line, match, frame_line) && match[1] != "0")
      addresses->push_back(std::stoull(match[2], nullptr, 16));
  return stacks;
}

Answer look_with_gdb(const Scene& scene) {
  Answer answer;
  e2e::Outcome run;
  answer.seconds = scene.timed([&](const std::string& endpoint) {
    run = e2e::run_program(
        {{"gdb", "-nx", "-batch", "-ex", "set sysroot /", "-ex", "file " + scene.program(), "-ex",
          "target remote " + endpoint, "-ex", "thread apply all bt", "-ex", "detach"}},
        patience);
  });
  answer.stacks = parse_gdb(run.out);
  if (run.status() != 0 || answer.stacks.empty())
    throw std::runtime_error("gdb: " + run.err);
  return answer;
}

/// gdb ends at main(). Empty: they are the same as far as that. The main thread polls, and is
/// caught in other calls each time: of it only the outermost one counts.
std::string difference(const Stacks& own, const Stacks& by_gdb, pid_t main_thread) {
  if (own.size() != by_gdb.size())
    return fmt::format("{} threads, by gdb {}", own.size(), by_gdb.size());
  for (const auto& [thread, expected] : by_gdb) {
    const auto found = own.find(thread);
    const bool polls = thread == main_thread;
    const auto compared = std::span(expected).last(polls ? std::min<std::size_t>(1, expected.size())
                                                         : expected.size());
    if (found == own.end() || std::ranges::search(found->second, compared).empty() ||
        expected.empty())
      return fmt::format("thread {}: other frames than gdb's", thread);
  }
  return "";
}

/// Arguments: threads, milliseconds of round trip.
void measure(benchmark::State& state, Answer (*look)(const Scene&)) {
  try {
    const Scene scene(state);
    const auto expected = look_with_gdb(scene).stacks;
    const auto own = look_with_mqbridge(scene).stacks;
    if (const auto wrong = difference(own, expected, scene.pid()); !wrong.empty())
      return state.SkipWithError(wrong.c_str());
    double stopped_ms = 0;
    for (auto _ : state) {
      const auto answer = look(scene);
      state.SetIterationTime(answer.seconds);
      stopped_ms = std::max(stopped_ms, answer.stopped_ms);
    }
    if (stopped_ms > 0)
      state.counters["stopped_ms"] = stopped_ms;
  } catch (const std::exception& exception) {
    state.SkipWithError(exception.what());
  }
}

void stacks_by_mqbridge(benchmark::State& state) {
  measure(state, look_with_mqbridge);
}

void stacks_by_gdb(benchmark::State& state) {
  measure(state, look_with_gdb);
}

/// The first dump learns the process's pages, and does not count; the later dumps use them.
void measure_held(benchmark::State& state, const std::vector<std::string>& options) {
  try {
    const Scene scene(state);
    for (bool is_first = true; is_first || state.KeepRunning(); is_first = false) {
      e2e::DumpOutcome dump;
      scene.timed([&](const std::string& endpoint) {
        auto arguments = options;
        arguments.push_back(endpoint);
        dump = e2e::dump_json(arguments, patience);
      });
      if (dump.status() != 0)
        throw std::runtime_error("mqbridge: " + dump.err);
      if (!is_first)
        state.SetIterationTime(dump.document["ranks"][0].value("stopped_ms", 0.0) / 1000);
    }
  } catch (const std::exception& exception) {
    state.SkipWithError(exception.what());
  }
}

void held_for_queues(benchmark::State& state) {
  measure_held(state, {"--no-stacks"});
}

void held_for_queues_and_stacks(benchmark::State& state) {
  measure_held(state, {});
}

/// Argument: milliseconds of round trip. The functions have to be those that the program says; the
/// first look does not count, as it is that of a process that was never seen.
void measure_python(benchmark::State& state, bool with_python) {
  try {
    const test::TempDirectory directory;
    const auto said = directory / "said";
    const std::string main = "import mpi4py.MPI, runpy, sys; "
                             "runpy.run_path(sys.argv[3], run_name='__main__')";
    const test::ChildProcess process(
        {{"/usr/bin/python3", "-c", main, said.string(), "thirty_functions",
          MQBRIDGE_INFERIOR_SOURCES "/python_frames.py"}});
    if (!test::eventually(patience, [&] { return std::filesystem::exists(said); }))
      throw std::runtime_error("the program does not say where it is");
    const json expected = json::parse(std::ifstream(said))["threads"].front();
    std::vector<std::string> command = {"stacks", "--format", "json", "--stats"};
    if (!with_python)
      command.emplace_back("--no-python");
    for (bool is_first = true; is_first || state.KeepRunning(); is_first = false) {
      e2e::Outcome run;
      timed(process.pid(), std::chrono::milliseconds(state.range(0)), [&](const auto& endpoint) {
        auto arguments = command;
        arguments.push_back(endpoint);
        run = e2e::run_mqbridge(arguments, patience);
      });
      const json rank = json::parse(run.out)["ranks"][0];
      json functions = json::array();
      for (const json& frame : rank["stacks"][0]["frames"])
        if (frame.value("language", "") == "python")
          functions.push_back({frame["file"], frame["function"], frame["line"]});
      if (functions != (with_python ? expected : json::array()))
        throw std::runtime_error("other functions than the program says: " + functions.dump());
      if (is_first)
        continue;
      state.SetIterationTime(rank.value("stopped_ms", 0.0) / 1000);
      state.counters["round_trips"] = rank["statistics"]["round_trips"].get<double>();
    }
  } catch (const std::exception& exception) {
    state.SkipWithError(exception.what());
  }
}

void held_for_stacks_in_c(benchmark::State& state) {
  measure_python(state, false);
}

void held_for_stacks_in_python(benchmark::State& state) {
  measure_python(state, true);
}

void each_length(benchmark::internal::Benchmark* one) {
  one->ArgNames({"threads", "round_trip_ms"})->ArgsProduct({{1, 64}, {0, 1, 10}});
  one->UseManualTime()->Unit(benchmark::kMillisecond);
}

BENCHMARK(stacks_by_mqbridge)->Apply(each_length)->Iterations(5);
BENCHMARK(stacks_by_gdb)->Apply(each_length)->Iterations(5);
BENCHMARK(held_for_queues)->Apply(each_length)->Iterations(15);
BENCHMARK(held_for_queues_and_stacks)->Apply(each_length)->Iterations(15);

void each_round_trip(benchmark::internal::Benchmark* one) {
  one->ArgName("round_trip_ms")->Arg(0)->Arg(1)->Arg(10);
  one->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(15);
}

BENCHMARK(held_for_stacks_in_c)->Apply(each_round_trip);
BENCHMARK(held_for_stacks_in_python)->Apply(each_round_trip);

} // namespace
