// What a process cannot show is said, never shown as empty: other transports, MPI not yet or no
// longer there, and processes that are not of one job.

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/oracle.h"
#include "tests/support/eventually.h"

#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <set>
#include <stdexcept>

namespace mqbridge::e2e {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;

/// The line of mpi_state.c that has this text, alone.
int line_of(const std::string& text) {
  std::ifstream source(std::string(MQBRIDGE_INFERIOR_SOURCES) + "/mpi_state.c");
  int number = 1;
  for (std::string line; std::getline(source, line); ++number)
    if (line == "  " + text)
      return number;
  throw std::runtime_error("no line " + text);
}

void expect_blocked_in(const json& rank, const std::string& call, const std::string& text) {
  ASSERT_TRUE(rank["blocked_in"].is_array()) << rank["errors"] << rank["stacks"];
  ASSERT_EQ(rank["blocked_in"].size(), 1U) << rank["blocked_in"];
  EXPECT_EQ(rank["blocked_in"][0]["call"], call) << rank["blocked_in"];
  EXPECT_EQ(rank["blocked_in"][0]["line"], line_of(text)) << rank["blocked_in"];
}

TEST(StateTest, AProcessThatHangsInMpiInitSaysSo) {
  MpiJob job({.program = "mpi_state", .arguments = {"late"}});
  DumpOutcome dump;
  const bool inside = test::eventually(std::chrono::seconds(30), [&] {
    dump = dump_json({local_target(job.pid(0))});
    const json& calls = dump.document["ranks"][0]["blocked_in"];
    return calls.is_array() && calls.size() == 1 && calls[0]["call"] == "MPI_Init";
  });
  ASSERT_TRUE(inside) << testing::PrintToString<Outcome>(dump);
  const json& rank = dump.document["ranks"][0];
  expect_blocked_in(rank, "MPI_Init", "MPI_Init(NULL, NULL);");
  EXPECT_EQ(rank["mpi"]["state"], "not_initialized");
  EXPECT_EQ(job.finish(), "");
}

TEST(StateTest, OfARankThatIsNotInMpiInitWhileOthersAreThePlaceIsNamed) {
  MpiJob job({.program = "mpi_state", .arguments = {"late"}});
  DumpOutcome dump;
  const bool inside = test::eventually(std::chrono::seconds(30), [&] {
    dump = dump_json({"--analyze", "--twice", "0", "--mpirun", std::to_string(job.launcher())});
    const json& calls = dump.document["ranks"][0]["blocked_in"];
    return calls.is_array() && calls.size() == 1 && calls[0]["call"] == "MPI_Init";
  });
  ASSERT_TRUE(inside) << testing::PrintToString<Outcome>(dump);
  const json& analysis = dump.document["analysis"];
  EXPECT_EQ(analysis["verdict"], "undecided");
  ASSERT_EQ(analysis["look_at"].size(), 1U) << analysis;
  EXPECT_THAT(analysis["look_at"][0].get<std::string>(),
              testing::MatchesRegex(
                  "rank 1 is not in MPI_Init: job_wait_for_go at job_files.c:[0-9]+.*; rank 0 is"));
  EXPECT_EQ(job.finish(), "");
}

// What it has posted is there as long as MPI_Finalize waits for others.
TEST(StateTest, AProcessThatHangsInMpiFinalizeShowsItsQueues) {
  MpiJob job({.program = "mpi_state", .arguments = {"inside"}});
  DumpOutcome dump;
  const bool inside = test::eventually(std::chrono::seconds(30), [&] {
    dump = dump_json({local_target(job.pid(0))});
    return dump.document["ranks"][0]["mpi"]["state"] == "finalizing";
  });
  ASSERT_TRUE(inside) << testing::PrintToString<Outcome>(dump);
  const json& rank = dump.document["ranks"][0];
  EXPECT_EQ(dump.status(), 0);
  EXPECT_EQ(rank["status"], "ok") << rank["errors"];
  EXPECT_EQ(rank["world_size"], 2);
  expect_blocked_in(rank, "MPI_Finalize", "MPI_Finalize();");
  const json queues = find_communicator(rank, "kept")["queues"];
  ASSERT_EQ(queues["send"]["total"], 1) << rank["communicators"];
  ASSERT_EQ(queues["receive"]["total"], 1);
  EXPECT_EQ(queues["send"]["operations"][0]["tag"]["value"], 31);
  EXPECT_EQ(queues["receive"]["operations"][0]["tag"]["value"], 32);
  EXPECT_EQ(queues["receive"]["operations"][0]["status"], "pending");
  EXPECT_EQ(job.finish(), "");
}

struct Moment {
  const char* argument;
  const char* state;
  const char* status; ///< after its end there is nothing more to know
  const char* word;
};

void PrintTo(const Moment& moment, std::ostream* stream) {
  *stream << moment.argument;
}

class MpiStateTest : public testing::TestWithParam<Moment> {};

TEST_P(MpiStateTest, IsSaid) {
  SingleProcess process("mpi_state", {GetParam().argument});
  const DumpOutcome dump = dump_json({local_target(process.pid())});
  ASSERT_EQ(dump.document["ranks"].size(), 1U) << testing::PrintToString<Outcome>(dump);
  const json& rank = dump.document["ranks"][0];
  EXPECT_EQ(rank["mpi"]["state"], GetParam().state);
  EXPECT_EQ(rank["status"], GetParam().status);
  EXPECT_TRUE(rank["communicators"].empty()) << "so no queue that could look empty";
  const Outcome text = run_mqbridge({"dump", local_target(process.pid())});
  EXPECT_THAT(text.out + text.err, HasSubstr(GetParam().word));
  EXPECT_EQ(process.finish(), "");
}

INSTANTIATE_TEST_SUITE_P(Moments, MpiStateTest,
                         testing::Values(Moment{"before", "not_initialized", "partial", "not"},
                                         Moment{"after", "finalized", "ok", "finalized"}),
                         [](const auto& param) { return std::string(param.param.argument); });

TEST(StateTest, TheWorldIsKnownByItsContextWhateverItsName) {
  SingleProcess process("mpi_state", {"renamed"});
  const DumpOutcome dump = dump_json({local_target(process.pid())});
  ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  const json& rank = dump.document["ranks"][0];
  EXPECT_EQ(rank["world_rank"], 0);
  EXPECT_EQ(rank["world_size"], 1);
  std::set<std::string> names;
  for (const json& communicator : rank["communicators"])
    names.insert(communicator["name"].get<std::string>());
  EXPECT_EQ(names, (std::set<std::string>{"everybody", "MPI_COMM_SELF"}));
  EXPECT_EQ(process.finish(), "");
}

TEST(JobsTest, TargetsOfTwoJobsAreToldApart) {
  MpiJob first({.arguments = {"mix"}});
  MpiJob second({.arguments = {"mix"}});
  const DumpOutcome dump = dump_json({local_target(first.pid(0)), local_target(second.pid(0)),
                                      local_target(first.pid(1)), local_target(second.pid(1))});
  ASSERT_EQ(dump.document["ranks"].size(), 4U) << testing::PrintToString<Outcome>(dump);
  const json& ranks = dump.document["ranks"];
  std::set<std::string> jobs;
  bool warned = false;
  for (std::size_t position = 0; position < 4; ++position) {
    const auto rank = static_cast<int>(position % 2);
    EXPECT_EQ(ranks[position]["rank"], rank);
    EXPECT_EQ(ranks[position]["rank_source"], "comm_world");
    EXPECT_EQ(ranks[position]["world_rank"], rank);
    jobs.insert(ranks[position]["job_id"].get<std::string>());
    for (const json& error : ranks[position]["errors"])
      warned = warned || error["level"] == "warning";
    const MpiJob& job = position < 2 ? first : second;
    EXPECT_EQ(ranks[position]["pid"], job.pid(rank));
    EXPECT_THAT(differences(read_oracle(job.directory(), rank), ranks[position]), IsEmpty());
  }
  EXPECT_EQ(jobs.size(), 2U);
  EXPECT_EQ(ranks[0]["job_id"], ranks[1]["job_id"]);
  EXPECT_NE(ranks[1]["job_id"], ranks[2]["job_id"]);
  EXPECT_TRUE(warned) << testing::PrintToString<Outcome>(dump);
  EXPECT_EQ(first.finish(), "");
  EXPECT_EQ(second.finish(), "");
}

TEST(JobsTest, WorldsOfDifferentSizeAreSeparateJobs) {
  MpiJob pair({.arguments = {"mix"}});
  SingleProcess single("mpi_victim");
  const DumpOutcome dump = dump_json({local_target(pair.pid(1)), local_target(single.pid())});
  ASSERT_EQ(dump.document["ranks"].size(), 2U) << testing::PrintToString<Outcome>(dump);
  const json& ranks = dump.document["ranks"];
  EXPECT_NE(ranks[0]["job_id"], ranks[1]["job_id"]);
  EXPECT_EQ(ranks[0]["world_size"], 2);
  EXPECT_EQ(ranks[1]["world_size"], 1);
  EXPECT_EQ(pair.finish(), "");
  EXPECT_EQ(single.finish(), "");
}

TEST(JobsTest, NoTargetIsGivenARankByItsPlace) {
  MpiJob job({.arguments = {"mix"}});
  const std::string again = fmt::format("exec:gdbserver --once --attach - {}", job.pid(1));
  const DumpOutcome dump =
      dump_json({"--jobs", "1", local_target(job.launcher()), local_target(job.pid(1)), again});
  EXPECT_EQ(dump.status(), 1);
  const json& ranks = dump.document["ranks"];
  ASSERT_EQ(ranks.size(), 3U) << testing::PrintToString<Outcome>(dump);
  EXPECT_EQ(ranks[0]["rank"], 1);
  EXPECT_EQ(ranks[0]["status"], "ok");
  EXPECT_THAT(differences(read_oracle(job.directory(), 1), ranks[0]), IsEmpty());
  EXPECT_EQ(dump.document["job"]["size"], 2);
  EXPECT_TRUE(ranks[1]["rank"].is_null());
  EXPECT_TRUE(ranks[1]["rank_source"].is_null());
  EXPECT_EQ(ranks[1]["pid"], job.launcher());
  EXPECT_FALSE(find_error(ranks[1], "mpi.launcher").is_null());
  EXPECT_TRUE(ranks[2]["rank"].is_null());
  EXPECT_EQ(ranks[2]["endpoint"], again);
  EXPECT_EQ(ranks[2]["pid"], job.pid(1));
  EXPECT_FALSE(find_error(ranks[2], "target.twice").is_null());
  EXPECT_EQ(job.finish(), "");
}

TEST(JobsTest, RankGivenByTheUserIsTheRank) {
  MpiJob job({.arguments = {"mix"}});
  const DumpOutcome dump = dump_json({"7=" + local_target(job.pid(0))});
  ASSERT_EQ(dump.document["ranks"].size(), 1U) << testing::PrintToString<Outcome>(dump);
  EXPECT_EQ(dump.document["ranks"][0]["rank"], 7);
  EXPECT_EQ(dump.document["ranks"][0]["rank_source"], "given");
  EXPECT_EQ(dump.document["ranks"][0]["world_rank"], 0);
  EXPECT_EQ(job.finish(), "");
}

} // namespace
} // namespace mqbridge::e2e
