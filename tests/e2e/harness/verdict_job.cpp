#include "tests/e2e/harness/verdict_job.h"

#include "tests/support/temp_directory.h"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <thread>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;

constexpr auto settled = 200ms; // what a rank that uses no CPU may need to come where it will be
constexpr auto ended_in_time = 500ms; // no deadlock would need as long

std::vector<int> busy_ranks(const VerdictCase& param) {
  std::vector<int> busy;
  for (int rank = 0; rank < param.processes(); ++rank)
    if (std::find(param.quiet.begin(), param.quiet.end(), rank) == param.quiet.end())
      busy.push_back(rank);
  return busy;
}

std::vector<int> shuffled(int count, std::mt19937& random) {
  std::vector<int> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  std::shuffle(numbers.begin(), numbers.end(), random);
  return numbers;
}

DumpOutcome analyzed(const std::vector<std::string>& files) {
  std::vector<std::string> arguments = {"analyze", "--format", "json"};
  arguments.insert(arguments.end(), files.begin(), files.end());
  DumpOutcome result = {run_mqbridge(arguments), nullptr};
  result.document = nlohmann::json::parse(result.out, nullptr, false);
  if (result.document.is_discarded())
    result.document = nullptr;
  return result;
}

} // namespace

// Ranks may leave early.
JobSpec verdict_spec(const VerdictCase& param) {
  JobSpec spec;
  spec.program = "verdict";
  spec.arguments = {param.scenario};
  spec.ranks = param.ranks;
  if (param.spawns) {
    spec.spawned = param.ranks;
    spec.btl = "vader,tcp";
  }
  spec.environment = {{"OMPI_MCA_orte_allowed_exit_without_sync", "1"},
                      {"OMPI_MCA_orte_abort_on_non_zero_status", "0"},
                      {"OMPI_MCA_mpi_yield_when_idle", param.yields ? "1" : "0"}};
  return spec;
}

VerdictJob::VerdictJob(const VerdictCase& param) : VerdictJob(param, verdict_spec(param), {}) {}

VerdictJob::VerdictJob(const VerdictCase& param, const JobSpec& spec,
                       std::vector<std::string> options)
    : param_(param), options_(std::move(options)), mpirun_(spec.launcher.empty()), job_(spec) {
  if (!job_.await_spinning(busy_ranks(param)))
    throw std::runtime_error("the ranks do not come where " + param.scenario + " leads");
  if (!param.quiet.empty())
    std::this_thread::sleep_for(settled);
  if (param.suspended >= 0)
    kill(job_.pid(param.suspended), SIGSTOP);
}

std::vector<std::string> VerdictJob::targets() const {
  if (mpirun_)
    return {"--mpirun", std::to_string(job_.launcher())};
  return job_.targets();
}

// Only where the launcher lists it, a process that is not there is known to have ended.
std::vector<std::string> VerdictJob::target(int process) const {
  if (mpirun_)
    return {"--mpirun", std::to_string(job_.launcher()), "--rank", std::to_string(process)};
  return {local_target(job_.pid(process))};
}

DumpOutcome VerdictJob::look(const std::string& pause) const {
  auto arguments = targets();
  arguments.insert(arguments.end(), {"--analyze", "--twice", pause});
  arguments.insert(arguments.end(), options_.begin(), options_.end());
  return dump_json(arguments);
}

DumpOutcome VerdictJob::look_apart(std::uint32_t seed, int rounds,
                                   std::chrono::milliseconds most) const {
  const test::TempDirectory directory;
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> pause(0, static_cast<int>(most.count()));
  std::vector<std::string> files;
  for (int round = 0; round < rounds; ++round)
    for (const int process : shuffled(param_.processes(), random)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(pause(random)));
      files.push_back((directory / fmt::format("{}.{}.json", round, process)).string());
      auto arguments = target(process);
      arguments.insert(arguments.end(), {"--no-analyze", "-o", files.back()});
      arguments.insert(arguments.end(), options_.begin(), options_.end());
      const DumpOutcome look = dump_json(arguments);
      if (!std::filesystem::exists(files.back()))
        throw std::runtime_error("a dump has written nothing: " +
                                 testing::PrintToString<Outcome>(look));
    }
  return analyzed(files);
}

std::string VerdictJob::finish() {
  if (param_.suspended >= 0)
    kill(job_.pid(param_.suspended), SIGCONT);
  if (!param_.is_deadlock())
    return param_.verdict == "undecided" ? "" : job_.finish();
  const std::string end = job_.finish(ended_in_time);
  return end == "still running after go" ? "" : "the deadlock came to an end: " + end;
}

} // namespace mqbridge::e2e
