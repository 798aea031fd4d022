// A dump says what the ranks posted, field by field and operation by operation.

#include "tests/e2e/harness/debian13.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/oracle.h"
#include "tests/support/gdb_server.h"
#include "tests/support/temp_directory.h"

#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <list>

namespace mqbridge::e2e {
namespace {

using nlohmann::json;
using test::GdbServer;
using test::ServerMode;
using test::TempDirectory;
using testing::IsEmpty;

struct Case {
  std::string scenario;
  std::string btl;
  int ranks;
};

std::string name_of(const testing::TestParamInfo<Case>& info) {
  return fmt::format("{}_{}_{}", info.param.scenario, info.param.btl, info.param.ranks);
}

void PrintTo(const Case& param, std::ostream* stream) {
  *stream << param.scenario << " over " << param.btl << ", " << param.ranks << " ranks";
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const char* scenario : {"mix", "inter", "blocked_recv", "blocked_ssend", "blocked_mprobe",
                               "blocked_wait", "blocked_waitall", "blocked_waitany"}) {
    for (const char* btl : {"vader", "tcp"}) {
      for (const int ranks : {2, 4})
        cases.push_back({scenario, btl, ranks});
    }
  }
  // Over shared memory the receiver takes the message by itself.
  for (const int ranks : {2, 4})
    cases.push_back({"matched", "tcp", ranks});
  return cases;
}

// Every rank but the last (oracle_poster's blocked scenarios).
std::vector<int> blocked_ranks(const Case& param) {
  std::vector<int> ranks;
  if (param.scenario.starts_with("blocked"))
    for (int rank = 0; rank + 1 < param.ranks; ++rank)
      ranks.push_back(rank);
  return ranks;
}

// A gdbserver on every rank, and the targets for the command line.
struct Servers {
  explicit Servers(const MpiJob& job, ServerMode mode = ServerMode::attach) {
    for (int rank = 0; rank < job.ranks(); ++rank)
      targets.push_back(list.emplace_back(mode, job.pid(rank)).endpoint());
  }
  std::list<GdbServer> list;
  std::vector<std::string> targets;
};

void expect_truth(const MpiJob& job, const DumpOutcome& dump) {
  ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  ASSERT_EQ(dump.document["ranks"].size(), static_cast<std::size_t>(job.ranks()));
  for (int rank = 0; rank < job.ranks(); ++rank) {
    const json& dumped = dump.document["ranks"][static_cast<std::size_t>(rank)];
    EXPECT_EQ(dumped["rank"], rank);
    EXPECT_EQ(dumped["world_rank"], rank);
    EXPECT_EQ(dumped["world_size"], job.ranks());
    EXPECT_EQ(dumped["status"], "ok");
    EXPECT_EQ(dumped["pid"], job.pid(rank));
    EXPECT_EQ(dumped["mpi"]["transport"], "ob1");
    EXPECT_EQ(dumped["mpi"]["state"], "initialized");
    EXPECT_THAT(differences(read_oracle(job.directory(), rank), dumped), IsEmpty())
        << "rank " << rank;
  }
}

/// The communicators of a rank, in order, without what tells who has read their operations.
json what_operations_say(const json& rank) {
  json communicators = comparable_communicators(rank);
  for (json& communicator : communicators)
    for (json& queue : communicator["queues"]) {
      for (json& operation : queue["operations"])
        for (const char* said_by : {"raw", "text", "source"})
          operation.erase(said_by);
      std::sort(queue["operations"].begin(), queue["operations"].end());
    }
  std::sort(communicators.begin(), communicators.end());
  return communicators;
}

/// What mqbridge reads itself, and what the debug DLL shows, is equal field by field.
void expect_same_operations(const DumpOutcome& with, const DumpOutcome& without) {
  for (std::size_t rank = 0; rank < without.document["ranks"].size(); ++rank) {
    EXPECT_TRUE(without.document["ranks"][rank]["dll"].is_null());
    EXPECT_EQ(what_operations_say(without.document["ranks"][rank]),
              what_operations_say(with.document["ranks"][rank]));
  }
}

class OracleTest : public testing::TestWithParam<Case> {};

// With the debug DLL, and without it. Open MPI 5 has none here, and its files are not this
// system's.
TEST_P(OracleTest, DumpEqualsWhatWasPosted) {
  MpiJob job(
      {.arguments = {GetParam().scenario}, .ranks = GetParam().ranks, .btl = GetParam().btl});
  ASSERT_TRUE(job.await_spinning(blocked_ranks(GetParam())));
  DumpOutcome with;
  if (!openmpi5_is_asked_for()) {
    const Servers servers(job);
    with = dump_json(servers.targets);
    expect_truth(job, with);
  }
  std::vector<std::string> arguments = {"--dll", "none"};
  for (int rank = 0; rank < job.ranks(); ++rank)
    arguments.push_back(local_target(job.pid(rank)));
  const DumpOutcome without = dump_json(arguments);
  expect_truth(job, without);
  if (!with.document.is_null())
    expect_same_operations(with, without);
  EXPECT_EQ(job.finish(), "");
}

INSTANTIATE_TEST_SUITE_P(AllTransports, OracleTest, testing::ValuesIn(all_cases()), name_of);

TEST(OracleModesTest, TwoDumpsOfOneJobByStdioAgreeWithIt) {
  MpiJob job({.arguments = {"mix"}});
  for (int round = 0; round < 2; ++round)
    expect_truth(job, dump_json({local_target(job.pid(0)), local_target(job.pid(1))}));
  EXPECT_EQ(job.finish(), "");
}

TEST(OracleModesTest, AnyStubOnTheStdioOfACommand) {
  MpiJob job({.arguments = {"mix"}});
  expect_truth(job, dump_json({fmt::format("exec:gdbserver --once --attach - {}", job.pid(0)),
                               fmt::format("exec:gdbserver --once --attach - {}", job.pid(1))}));
  EXPECT_EQ(job.finish(), "");
}

// By the headers of this machine's Open MPI instead of the shipped pack.
TEST(OracleTypesTest, CarrierMadeHereGivesTheSameTruth) {
  const TempDirectory directory;
  const std::string carrier = (directory / "ompi.types.so").string();
  const Outcome made = run_mqbridge({"types", "make", "--mpi", "openmpi", "-o", carrier});
  ASSERT_EQ(made.status(), 0) << testing::PrintToString(made);
  MpiJob job({.arguments = {"mix"}});
  const DumpOutcome dump =
      dump_json({"--types", carrier, local_target(job.pid(0)), local_target(job.pid(1))});
  expect_truth(job, dump);
  EXPECT_EQ(dump.document["ranks"][0]["mpi"]["types_source"], "ompi.types.so");
  EXPECT_EQ(job.finish(), "");
}

TEST(OracleModesTest, RanksBehindOneMultiServerAreTakenOneAfterTheOther) {
  MpiJob job({.arguments = {"mix"}, .ranks = 4});
  {
    const GdbServer server(ServerMode::multi, job.pid(0));
    std::vector<std::string> targets;
    for (int rank = 0; rank < job.ranks(); ++rank)
      targets.push_back(fmt::format("127.0.0.1:{}@{}", server.port(), job.pid(rank)));
    expect_truth(job, dump_json(targets));
  }
  EXPECT_EQ(job.finish(), "");
}

TEST(OracleModesTest, RanksComeFromTheProcessesNotFromTheOrderGiven) {
  MpiJob job({.arguments = {"mix"}});
  const DumpOutcome dump = dump_json({local_target(job.pid(1)), local_target(job.pid(0))});
  expect_truth(job, dump);
  EXPECT_EQ(dump.document["ranks"][0]["rank_source"], "comm_world");
  EXPECT_EQ(job.finish(), "");
}

TEST(OracleModesTest, OneCommunicatorHasOneKeyOnAllRanks) {
  MpiJob job({.arguments = {"mix"}, .ranks = 4});
  const DumpOutcome dump = dump_json({local_target(job.pid(0)), local_target(job.pid(1)),
                                      local_target(job.pid(2)), local_target(job.pid(3))});
  ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  const auto key = [&](std::size_t rank, const char* name) {
    return find_communicator(dump.document["ranks"][rank], name).value("key", json());
  };
  for (const char* name : {"MPI_COMM_WORLD", "halo", "reversed"}) {
    for (const std::size_t rank : {1U, 2U, 3U})
      EXPECT_EQ(key(rank, name), key(0, name)) << name << " on rank " << rank;
  }
  EXPECT_NE(key(0, "halo"), key(0, "wild cards"));
  EXPECT_EQ(key(0, "pair 0"), key(1, "pair 0"));
  EXPECT_NE(key(0, "pair 0"), key(2, "pair 1"));
  EXPECT_EQ(job.finish(), "");
}

// 14 fetches an operation in its own communicator, 2 for every other one: what the
// library asks for is known, so a walk that asks for much more, or a stack that answers each fetch
// by itself, shows here.
TEST(CountsTest, HundredReceivesCostFewRoundTrips) {
  constexpr int receives = 100;
  MpiJob job({.arguments = {fmt::format("receives={}", receives)}});
  const DumpOutcome dump = dump_json({local_target(job.pid(0)), local_target(job.pid(1))});
  expect_truth(job, dump);
  for (const json& rank : dump.document["ranks"]) {
    const json& statistics = rank["statistics"];
    const int fetches = statistics["fetches"];
    const int round_trips = statistics["round_trips"];
    RecordProperty(fmt::format("fetches_rank_{}", rank["rank"].get<int>()), fetches);
    RecordProperty(fmt::format("round_trips_rank_{}", rank["rank"].get<int>()), round_trips);
    EXPECT_GE(fetches, 14 * receives);
    EXPECT_LE(fetches, 40 * receives);
    EXPECT_GE(round_trips, 3);
    EXPECT_LE(round_trips, 80);
  }
  EXPECT_EQ(job.finish(), "");
}

} // namespace
} // namespace mqbridge::e2e
