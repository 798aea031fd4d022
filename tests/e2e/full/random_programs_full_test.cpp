// Random programs as real jobs: what the simulator says of them, and what mqbridge says.

#include "tests/analysis/generator.h"
#include "tests/analysis/oracle.h"
#include "tests/analysis/verdict_check.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/support/eventually.h"
#include "tests/support/requirements.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <gtest/gtest.h>
#include <optional>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using sim::Program;
using sim::Scene;
using sim::Truth;

bool has(const Program& program, sim::Verb verb) {
  return std::ranges::any_of(program.ranks, [&](const auto& rank) {
    return std::ranges::any_of(rank, [&](const auto& one) { return one.verb == verb; });
  });
}

/// How a program ends, if it ends so whatever the order of messages is. No program where a rank
/// ends without MPI_Finalize: mpirun ends its job then.
std::optional<Scene> certain_end(const Program& program) {
  constexpr std::uint64_t schedules = 40;
  if (has(program, sim::Verb::exit))
    return std::nullopt;
  sim::Sight sight;
  sight.looks = 2;
  auto first = sim::play(program, sight, 0);
  if (!first)
    return std::nullopt;
  const Truth truth = sim::truth_of(first->world);
  if (truth.dead != truth.certain_dead)
    return std::nullopt;
  for (std::uint64_t schedule = 1; schedule < schedules; ++schedule) {
    const auto other = sim::play(program, sight, schedule);
    if (!other || sim::truth_of(other->world).dead != truth.dead)
      return std::nullopt;
    for (int rank = 0; rank < program.size(); ++rank)
      if (other->world.rank(rank).at != first->world.rank(rank).at)
        return std::nullopt;
  }
  return first;
}

bool comes_to_its_end(const Scene& scene) {
  return std::ranges::all_of(scene.world.ranks, [](const auto& rank) {
    return rank.where == sim::RankState::Where::finalizing;
  });
}

std::vector<Run> runs_of(const nlohmann::json& json) {
  std::vector<Run> runs;
  for (const auto& run : json)
    runs.push_back({run.at(0), run.at(1), run.at(2)});
  return runs;
}

Analysis analysis_of(const nlohmann::json& document) {
  const auto& json = document.at("analysis");
  Analysis analysis;
  const std::string verdict = json.at("verdict");
  analysis.verdict = verdict == "deadlock"      ? Verdict::deadlock
                     : verdict == "no_deadlock" ? Verdict::no_deadlock
                                                : Verdict::undecided;
  if (json.at("confidence").is_string()) {
    const std::string confidence = json.at("confidence");
    analysis.confidence = confidence == "certain"  ? Confidence::certain
                          : confidence == "likely" ? Confidence::likely
                                                   : Confidence::possible;
  }
  analysis.core = runs_of(json.at("core"));
  analysis.blocked = runs_of(json.at("blocked"));
  return analysis;
}

/// What is wrong with mqbridge's verdict on the job. A slow machine's job may need a while to come
/// to where it stays.
std::string fault_of_dump(const MpiJob& job, const Scene& scene) {
  std::string fault;
  for (int attempt = 0; attempt < 3; ++attempt) {
    std::this_thread::sleep_for(attempt == 0 ? 500ms : 3s);
    const auto dump =
        dump_json({"--mpirun", std::to_string(job.launcher()), "--analyze", "--twice", "0.3"});
    if (!dump.document.contains("analysis"))
      return dump.err;
    fault = sim::fault_of(analysis_of(dump.document), scene);
    if (fault.empty())
      break;
    fault += "\n" + dump.document.at("analysis").dump(1);
  }
  return fault;
}

std::string fault_of_job(const Program& program, const Scene& scene) {
  const test::TempDirectory directory;
  const auto path = directory.path() / "program";
  std::ofstream(path) << sim::to_text(program);
  const MpiJob job(
      {.program = "random_program", .arguments = {path.string()}, .ranks = program.size()});
  if (!comes_to_its_end(scene))
    return fault_of_dump(job, scene);
  const auto has_finished = [&](int rank) {
    return std::filesystem::exists(job.directory() / fmt::format("finished.{}", rank));
  };
  const bool ended = test::eventually(30s, [&] {
    for (int rank = 0; rank < program.size(); ++rank)
      if (!has_finished(rank))
        return false;
    return true;
  });
  return ended ? "" : "the simulator says that it comes to its end, and it does not";
}

TEST(RandomProgramsForReal, StandWhereTheSimulatorSaysAndHaveTheVerdictOfTheOracle) {
  constexpr int count = 100;
  constexpr std::uint64_t first = 3000;
  int jobs = 0;
  int hanging = 0;
  for (std::uint64_t seed = first; jobs < count; ++seed) {
    const Program program = sim::random_program(seed);
    const auto scene = certain_end(program);
    if (!scene)
      continue;
    ++jobs;
    hanging += comes_to_its_end(*scene) ? 0 : 1;
    EXPECT_EQ(fault_of_job(program, *scene), "") << "seed " << seed << "\n"
                                                 << sim::to_text(program);
  }
  EXPECT_GT(hanging, count / 4);
}

} // namespace
} // namespace mqbridge::e2e
