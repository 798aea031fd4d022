// Jobs whose MPI shows no queues, under `mqbridge run --record-queues`: what each rank has posted
// is in the document, and the verdict stands on it.

#include "tests/e2e/harness/census.h"
#include "tests/e2e/harness/mpich.h"
#include "tests/e2e/harness/mpirun_command.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/schema.h"
#include "tests/support/requirements.h"
#include "tests/support/temp_directory.h"

#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <ostream>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr int recorded_ranks = 3;

struct Unseen {
  std::string name;
  JobSpec job;
};
void PrintTo(const Unseen& unseen, std::ostream* out) {
  *out << unseen.name;
}

Unseen ucx() {
  JobSpec job{.program = "ring_deadlock", .ranks = recorded_ranks, .pml = "ucx"};
  return {"OpenMpiOverUcx", job};
}
Unseen mpich() {
  return {"DebiansMpich", debian_mpich_job("ring_deadlock", {}, recorded_ranks)};
}

class RecordQueues : public testing::TestWithParam<Unseen> {
protected:
  void SetUp() override {
    if (GetParam().name == mpich().name)
      MQBRIDGE_SKIP_IF_LACKING(lacking_debian_mpich());
  }
  /// The job behind a shell that speaks until it hangs. Which recorder it takes the word behind the
  /// script tells, the program itself.
  Outcome run(std::vector<std::string> options) const {
    const auto spec = mpirun_command(GetParam().job, directory_.path());
    std::string job;
    for (const auto& word : spec.argv)
      job += word + " ";
    const auto script = fmt::format(
        "{}& until [ $(ls {}/ready.* 2>/dev/null | wc -l) = {} ]; do echo not yet; sleep 0.1; "
        "done; wait",
        job, directory_.path().string(), recorded_ranks);
    options.insert(options.begin(), "run");
    options.insert(options.end(),
                   {"--", "sh", "-c", script, "sh", spec.argv[spec.argv.size() - 2]});
    auto own = mqbridge_command(options);
    own.environment = spec.environment;
    return run_program(own);
  }
  json document() const { return json::parse(std::ifstream(file()), nullptr, false); }
  std::string file() const { return (directory_ / "hang.json").string(); }

  test::TempDirectory directory_;
  const Census census_;
};

/// "receive MPI_Recv halo 17 from 2: 4 bytes", of all that is pending in a rank.
std::vector<std::string> pending(const json& rank) {
  std::vector<std::string> all;
  for (const auto& communicator : rank["communicators"])
    for (const std::string queue : {"send", "receive"})
      for (const auto& operation : communicator["queues"][queue]["operations"])
        if (operation["status"] == "pending")
          all.push_back(fmt::format(
              "{} {} {} {} {}", communicator["name"].get<std::string>(),
              operation["call"].get<std::string>(),
              operation["peer"]["any"] == true ? "any" : operation["peer"]["global_rank"].dump(),
              operation["tag"]["any"] == true ? "any" : operation["tag"]["value"].dump(),
              operation["length"]["value"].dump()));
  return all;
}

TEST_P(RecordQueues, ShowsWhatEachRankHasPostedAndWhyItHangs) {
  const auto outcome = run({"--record-queues", "--silent", "1", "--timeout", "1m", "--twice", "0.5",
                            "--fail-on", "deadlock:certain", "-o", file()});
  EXPECT_EQ(outcome.status(), 4) << testing::PrintToString(outcome);
  EXPECT_THAT(outcome.err, HasSubstr("VERDICT  DEADLOCK (certain)"));
  const auto kept = document();
  EXPECT_EQ(schema_violation(kept), "");
  ASSERT_EQ(kept["ranks"].size(), static_cast<std::size_t>(recorded_ranks)) << outcome.err;
  EXPECT_EQ(kept["analysis"]["core"], json::parse("[[0,2,1]]"));
  // tests/inferiors/ring_deadlock.c. In the column of ranks 0 and 2 these have the numbers 1 and 0;
  // rank 1 is alone in its column.
  for (int rank = 0; rank < recorded_ranks; ++rank) {
    const int left = (rank + recorded_ranks - 1) % recorded_ranks;
    const int right = (rank + 1) % recorded_ranks;
    EXPECT_THAT(pending(kept["ranks"][static_cast<std::size_t>(rank)]),
                UnorderedElementsAre(
                    fmt::format("MPI_COMM_WORLD MPI_Recv {} 17 4", left),
                    fmt::format("halo MPI_Irecv {} 40 1024", right), "row MPI_Irecv any any 4",
                    fmt::format("halo MPI_Issend {} 71 64", left),
                    fmt::format("column MPI_Isend {} 72 1048576", rank == 1 ? 1 : 2 - rank)))
        << rank;
  }
  EXPECT_THAT(census_.left_behind(5s), IsEmpty());
}

/// The line that mends it is in front of what follows from it. Over UCX nothing is to be mended.
/// mqbridge reads UCX's queues itself.
TEST_P(RecordQueues, IsNotProposedWhereTheQueuesAreRead) {
  const auto outcome = run({"--silent", "1", "--timeout", "1m", "--twice", "0", "-o", file()});
  EXPECT_EQ(outcome.status(), 124) << testing::PrintToString(outcome);
  EXPECT_THAT(outcome.err, testing::Not(HasSubstr("--record-queues")));
  for (const auto& rank : document()["ranks"])
    EXPECT_EQ(rank["status"], "ok") << rank["errors"].dump(1);
}

INSTANTIATE_TEST_SUITE_P(AllThat, RecordQueues, testing::Values(ucx(), mpich()),
                         [](const auto& unseen) { return unseen.param.name; });

TEST(RecordQueuesOfAScript, IsRefusedBeforeAnythingRuns) {
  const auto outcome = run_program(mqbridge_command(
      {"run", "--record-queues", "--timeout", "1m", "--", "sh", "-c", "echo ran"}));
  EXPECT_EQ(outcome.status(), 125);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err,
              testing::AllOf(HasSubstr("recorder.no_mpi"), HasSubstr("--recorder /PATH")));
}

} // namespace
} // namespace mqbridge::e2e
