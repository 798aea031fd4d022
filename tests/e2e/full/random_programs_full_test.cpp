// Random programs as real jobs: what the simulator says of them, and what mqbridge says.

#include "tests/analysis/generator.h"
#include "tests/analysis/oracle.h"
#include "tests/analysis/verdict_check.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mpich.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/support/eventually.h"
#include "tests/support/requirements.h"

#include <algorithm>
#include <fmt/format.h>
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

bool is_collective(const sim::Statement& statement) {
  return statement.verb >= sim::Verb::barrier;
}

bool waits_for_everybody(sim::Verb verb) {
  return verb == sim::Verb::barrier || verb == sim::Verb::ibarrier || verb == sim::Verb::allreduce;
}

std::vector<sim::Verb> collectives_of(const Program& program, int rank, char comm) {
  std::vector<sim::Verb> all;
  for (const sim::Statement& one : program.of(rank))
    if (is_collective(one) && one.comm == comm)
      all.push_back(one.verb);
  return all;
}

/// Whether its collectives end in any MPI as in the simulator, which has Open MPI's: all members
/// call the same ones, and nobody leaves them before all have come.
bool is_of_any_mpi(const Program& program) {
  for (int rank = 0; rank < program.size(); ++rank)
    for (const char comm : sim::communicators) {
      const auto own = collectives_of(program, rank, comm);
      const auto of_first =
          collectives_of(program, sim::members(comm, rank, program.size()).front(), comm);
      if (own != of_first || !std::ranges::all_of(own, waits_for_everybody))
        return false;
    }
  return true;
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

struct Seen {
  std::string fault; ///< what is wrong with mqbridge's verdict on the job
  bool deadlock = false;
  std::string answer{}; ///< the last analysis, as JSON
};

/// The job hangs. On a slow machine it may need a while to come to where it stays: what a look
/// finds before is not counted.
Seen look_at(const MpiJob& job, const Scene& scene) {
  Seen seen;
  for (int attempt = 0; attempt < 3; ++attempt) {
    std::this_thread::sleep_for(attempt == 0 ? 500ms : 3s);
    const auto dump =
        dump_json({"--mpirun", std::to_string(job.launcher()), "--analyze", "--twice", "0.3"});
    if (!dump.document.contains("analysis") || dump.document["analysis"].is_null()) {
      seen = {dump.err, false, dump.document.dump(1)};
      continue;
    }
    const Analysis analysis = analysis_of(dump.document);
    seen = {sim::fault_of(analysis, scene), analysis.verdict == Verdict::deadlock,
            dump.document.at("analysis").dump(1)};
    if (seen.fault.empty() && seen.deadlock)
      break;
    if (!seen.fault.empty())
      seen.fault += "\n" + seen.answer;
  }
  return seen;
}

/// Makes the specification of a job from arguments and the number of ranks.
using MakeSpec = JobSpec (*)(const std::vector<std::string>& arguments, int ranks);

Seen run(const Program& program, const Scene& scene, MakeSpec make_spec) {
  const test::TempDirectory directory;
  const auto path = directory.path() / "program";
  std::ofstream(path) << sim::to_text(program);
  const MpiJob job(make_spec({path.string()}, program.size()));
  if (!comes_to_its_end(scene))
    return look_at(job, scene);
  const auto has_finished = [&](int rank) {
    return std::filesystem::exists(job.directory() / fmt::format("finished.{}", rank));
  };
  const bool ended = test::eventually(30s, [&] {
    for (int rank = 0; rank < program.size(); ++rank)
      if (!has_finished(rank))
        return false;
    return true;
  });
  return {ended ? "" : "the simulator says that it comes to its end, and it does not"};
}

/// `counted`: the MPI counts messages, so that verdicts may be certain. Of the programs that hang
/// at least `found` of a hundred must be called deadlocked.
void expect_true_verdicts(std::uint64_t first, MakeSpec make_spec, bool counted, int found,
                          bool (*is_wanted)(const Program&, const Scene&)) {
  constexpr int count = 200;
  int jobs = 0;
  int hanging = 0;
  int not_called_dead = 0;
  std::string answers; // to these
  for (std::uint64_t seed = first; jobs < count; ++seed) {
    const Program program = sim::random_program(seed);
    auto scene = certain_end(program);
    if (!scene || !is_wanted(program, *scene))
      continue;
    scene->sight.omissions.counters = !counted;
    ++jobs;
    const Seen seen = run(program, *scene, make_spec);
    const bool hangs = !sim::truth_of(scene->world).dead.empty(); // else at most a rank computes
    if (hangs) {
      ++hanging;
      if (!seen.deadlock) {
        ++not_called_dead;
        answers += fmt::format("seed {}\n{}{}\n", seed, sim::to_text(program), seen.answer);
      }
    }
    EXPECT_EQ(seen.fault, "") << "seed " << seed << "\n" << sim::to_text(program);
  }
  EXPECT_GT(hanging, count / 4);
  EXPECT_LE(not_called_dead * 100, hanging * (100 - found))
      << not_called_dead << " of " << hanging << " that hang:\n"
      << answers;
}

/// UCX 1.18 may send as much as the simulator's large messages at once.
const std::pair<std::string, std::string> large_waits("UCX_RNDV_THRESH", "64k");

bool is_any(const Program& /*program*/, const Scene& /*end*/) {
  return true;
}

/// More ranks that poll by UCX than these may keep gdbserver from running for many seconds.
bool is_small(const Program& program, const Scene& /*end*/) {
  return program.size() <= 4;
}

/// MPI_Finalize of MPICH need not end what others wait for, as that of Open MPI does.
bool hangs_in_any_mpi(const Program& program, const Scene& end) {
  return is_of_any_mpi(program) && !comes_to_its_end(end);
}

TEST(RandomProgramsForReal, StandWhereTheSimulatorSaysAndHaveTheVerdictOfTheOracle) {
  const auto over_ob1 = [](const std::vector<std::string>& arguments, int ranks) {
    return JobSpec{.program = "random_program", .arguments = arguments, .ranks = ranks};
  };
  expect_true_verdicts(3000, over_ob1, true, 90, is_any);
}

TEST(RandomProgramsForReal, HaveNoFalseVerdictOverUcx) {
  const auto over_ucx = [](const std::vector<std::string>& arguments, int ranks) {
    return JobSpec{.program = "random_program",
                   .arguments = arguments,
                   .ranks = ranks,
                   .pml = "ucx",
                   .environment = {large_waits}};
  };
  expect_true_verdicts(7000, over_ucx, false, 50, is_small);
}

TEST(RandomProgramsForReal, HaveNoFalseVerdictWithMpich) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_debian_mpich());
  const auto of_mpich = [](const std::vector<std::string>& arguments, int ranks) {
    JobSpec spec = debian_mpich_job("random_program", arguments, ranks);
    spec.environment.push_back(large_waits);
    return spec;
  };
  expect_true_verdicts(8000, of_mpich, false, 50, hangs_in_any_mpi);
}

} // namespace
} // namespace mqbridge::e2e
