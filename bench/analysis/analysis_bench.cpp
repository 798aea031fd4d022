// analysis_bench: how long the verdict on a job takes, and how much memory: by the analysis alone,
// and by `mqbridge analyze` from its start to its end, the document read from a file. The verdict
// is known by construction (synthetic_job.h), and has to be right before its time counts.

#include "bench/analysis/synthetic_job.h"
#include "host/analysis/analyze.h"
#include "host/document/json_report.h"
#include "rsp/seconds.h"
#include "tests/support/process_table.h"
#include "tests/support/temp_directory.h"

#include <benchmark/benchmark.h>
#include <chrono>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <malloc.h>
#include <spawn.h>
#include <stdexcept>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace mqbridge;
using namespace mqbridge::bench;

/// Empty: nothing is wrong.
std::string wrong_with(const Analysis& analysis, const Expected& expected) {
  if (analysis.verdict != expected.verdict)
    return "the verdict is another one";
  if (analysis.core != expected.core)
    return "the core has other ranks";
  return analysis.blocked == expected.blocked ? "" : "other ranks are blocked behind the core";
}

/// From now on the most memory of this process is counted anew.
void forget_peak() {
  std::ofstream("/proc/self/clear_refs") << 5;
}

double peak_mib() {
  return static_cast<double>(test::peak_memory_kib(::getpid())) / 1024;
}

/// The analysis of a document in memory. `peak_MiB`: beyond what the document takes.
void analysis_alone(benchmark::State& state, Job job) {
  const int ranks = static_cast<int>(state.range(0));
  const Dump dump = synthetic_job(ranks, job);
  ::malloc_trim(0); // what earlier runs have left is not there for this one
  forget_peak();
  const double before = peak_mib();
  if (const auto wrong = wrong_with(analyze(dump), expected_of(ranks, job)); !wrong.empty())
    return state.SkipWithError(wrong.c_str());
  state.counters["peak_MiB"] = peak_mib() - before;
  for (auto _ : state)
    benchmark::DoNotOptimize(analyze(dump));
  state.SetItemsProcessed(state.iterations() * ranks);
}

struct ProgramRun {
  int status = -1;
  double seconds = 0;
  double cpu_seconds = 0; ///< processor time: other work of the machine does not count
  double peak_mib = 0;
  std::string out;
};

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

ProgramRun run_analyze(const std::filesystem::path& document, const std::filesystem::path& report) {
  const std::string file = document.string();
  const char* arguments[] = {"mqbridge", "analyze", file.c_str(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, report.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t pid = 0;
  const auto begin = std::chrono::steady_clock::now();
  const int error = ::posix_spawn(&pid, MQBRIDGE_PROGRAM, &actions, nullptr,
                                  const_cast<char**>(arguments), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    throw std::runtime_error("mqbridge does not start");
  int status = 0;
  rusage used{};
  ::wait4(pid, &status, 0, &used);
  ProgramRun run;
  run.seconds = in_seconds(std::chrono::steady_clock::now() - begin);
  run.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  run.cpu_seconds = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
  run.peak_mib = static_cast<double>(used.ru_maxrss) / 1024;
  std::ifstream text(report);
  run.out.assign(std::istreambuf_iterator<char>(text), {});
  return run;
}

/// In a process of its own: what this one once took in memory would count as the program's
/// (ru_maxrss of a child begins with its parent's).
void write_document(int ranks, Job job, const std::filesystem::path& path) {
  const pid_t writer = ::fork();
  if (writer == 0) {
    std::ofstream file(path, std::ios::binary);
    write_json(synthetic_job(ranks, job), {.tool_version = "bench"},
               [&](std::string_view text) { file << text; });
    file.close();
    ::_exit(file.good() ? 0 : 1);
  }
  int status = -1;
  if (writer < 0 || ::waitpid(writer, &status, 0) != writer || status != 0)
    throw std::runtime_error("the document cannot be written");
}

/// The whole program.
void measure_command(benchmark::State& state, Job job) {
  const int ranks = static_cast<int>(state.range(0));
  const test::TempDirectory directory;
  const auto document = directory / "job.json";
  write_document(ranks, job, document);
  const auto expected = expected_of(ranks, job).words;
  double peak = 0;
  double cpu = 0;
  for (auto _ : state) {
    const auto run = run_analyze(document, directory / "report");
    if (run.status != 0 || run.out.find(expected) == std::string::npos)
      return state.SkipWithError("the verdict is not the expected one");
    state.SetIterationTime(run.seconds);
    peak = std::max(peak, run.peak_mib);
    cpu = std::max(cpu, run.cpu_seconds);
  }
  state.counters["cpu_s"] = cpu;
  state.counters["peak_MiB"] = peak;
  state.SetItemsProcessed(state.iterations() * ranks);
  state.SetBytesProcessed(state.iterations() *
                          static_cast<std::int64_t>(std::filesystem::file_size(document)));
}

void analyze_command(benchmark::State& state, Job job) {
  try {
    measure_command(state, job);
  } catch (const std::exception& exception) {
    state.SkipWithError(exception.what());
  }
}

void each_size(benchmark::internal::Benchmark* one) {
  for (const int ranks : {100, 300, 1000, 3000, 10'000, 20'000})
    one->Arg(ranks);
  one->ArgName("ranks")->Iterations(3)->Unit(benchmark::kMillisecond);
}

// First: as long as this process is small.
BENCHMARK_CAPTURE(analyze_command, deadlock, Job::closed_ring)->Apply(each_size)->UseManualTime();
BENCHMARK_CAPTURE(analyze_command, recorded, Job::recorded)->Apply(each_size)->UseManualTime();
BENCHMARK_CAPTURE(analysis_alone, deadlock, Job::closed_ring)->Apply(each_size);
BENCHMARK_CAPTURE(analysis_alone, no_deadlock, Job::open_ring)->Apply(each_size);
BENCHMARK_CAPTURE(analysis_alone, recorded, Job::recorded)->Apply(each_size);

} // namespace
