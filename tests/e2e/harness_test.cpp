// The harness itself: that a frozen process is seen as frozen, and that a wrong dump is seen as
// wrong. A comparison that cannot fail proves nothing.

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/oracle.h"
#include "tests/e2e/harness/run_to_signal.h"
#include "tests/support/gdb_server.h"
#include "tests/support/process_table.h"

#include <gmock/gmock.h>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using test::GdbServer;
using test::ServerMode;
using test::TempDirectory;
using test::tracer_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(HarnessTest, ProcessHeldByAStubMakesNoProgress) {
  SingleProcess victim("counter_loop");
  EXPECT_TRUE(makes_progress(victim.directory(), 2s));
  {
    const GdbServer server(ServerMode::attach, victim.pid());
    EXPECT_NE(tracer_of(victim.pid()), 0);
    EXPECT_EQ(server.clients(), 0);
    EXPECT_FALSE(makes_progress(victim.directory(), 300ms));
  }
  EXPECT_TRUE(makes_progress(victim.directory(), 2s));
  EXPECT_EQ(victim.finish(), "");
}

TEST(HarnessTest, SpawnedProcessRunsToItsSignal) {
  const TempDirectory directory;
  const GdbServer server(ServerMode::spawned,
                         SingleProcess::command("mpi_victim", directory.path(), {"signal"}));
  EXPECT_FALSE(std::filesystem::exists(directory / "ready.0"));
  run_to_signal(server.port(), 20s);
  EXPECT_EQ(server.clients(), 1);
  EXPECT_TRUE(std::filesystem::exists(directory / "ready.0"));
  EXPECT_FALSE(makes_progress(directory.path(), 300ms));
}

// A dump of two communicators as it should be, and the oracle of it.
json good_rank() {
  return json::parse(R"({"communicators": [
    {"name": "MPI_COMM_WORLD", "local_rank": 1, "size": 4, "group": [[0, 3, 1]], "queues": {
      "send": {"state": "available", "total": 0, "operations": []},
      "receive": {"state": "available", "total": 2, "operations": [
        {"status": "pending", "peer": {"any": false, "local_rank": 2, "global_rank": 2},
         "tag": {"any": false, "value": 5}, "length": {"value": 8, "unit": "bytes"},
         "buffer": "0x10", "system_buffer": false, "actual": null},
        {"status": "pending", "peer": {"any": false, "local_rank": 2, "global_rank": 2},
         "tag": {"any": false, "value": 5}, "length": {"value": 8, "unit": "bytes"},
         "buffer": "0x10", "system_buffer": false, "actual": null}]}}},
    {"name": "reversed", "local_rank": 2, "size": 4, "group": [[3, 0, -1]], "queues": {
      "send": {"state": "available", "total": 0, "operations": []},
      "receive": {"state": "available", "total": 0, "operations": []}}}]})");
}

Oracle good_oracle() {
  const json operation = json::parse(R"({"queue": "receive", "communicator": "MPI_COMM_WORLD",
    "status": "pending", "peer": {"any": false, "local_rank": 2, "global_rank": 2},
    "tag": {"any": false, "value": 5}, "length": 8, "buffer": "0x10", "system_buffer": false})");
  return {{json::parse(R"({"communicator": "MPI_COMM_WORLD", "local_rank": 1, "size": 4,
                           "group": [0, 1, 2, 3]})"),
           json::parse(R"({"communicator": "reversed", "local_rank": 2, "size": 4,
                           "group": [3, 2, 1, 0]})")},
          {operation, operation}};
}

TEST(OracleComparisonTest, AgreesWithTheTruth) {
  EXPECT_THAT(differences(good_oracle(), good_rank()), IsEmpty());
}

TEST(OracleComparisonTest, SeesEveryFieldOfAnOperation) {
  const std::pair<const char*, json> changes[] = {
      {"/status", "complete"},  {"/peer/any", true},          {"/peer/local_rank", 1},
      {"/peer/global_rank", 1}, {"/tag/any", true},           {"/tag/value", 6},
      {"/length/value", 9},     {"/length/unit", "elements"}, {"/buffer", "0x18"},
      {"/system_buffer", true},
  };
  for (const auto& [field, value] : changes) {
    json rank = good_rank();
    rank["communicators"][0]["queues"]["receive"]["operations"][1][json::json_pointer(field)] =
        value;
    EXPECT_THAT(differences(good_oracle(), rank),
                ElementsAre(HasSubstr("missing"), HasSubstr("nobody posted")))
        << field;
  }
}

TEST(OracleComparisonTest, CountsAlikeOperations) {
  json rank = good_rank();
  json& queue = rank["communicators"][0]["queues"]["receive"];
  queue["operations"].erase(1);
  queue["total"] = 1;
  EXPECT_THAT(differences(good_oracle(), rank), ElementsAre(HasSubstr("missing")));
  queue["operations"].push_back(queue["operations"][0]);
  queue["operations"].push_back(queue["operations"][0]);
  EXPECT_THAT(differences(good_oracle(), rank),
              ElementsAre(HasSubstr("total"), HasSubstr("nobody posted")));
}

TEST(OracleComparisonTest, SeesCommunicators) {
  json missing = good_rank();
  missing["communicators"].erase(1);
  EXPECT_THAT(differences(good_oracle(), missing), ElementsAre(HasSubstr("is missing")));

  json group = good_rank();
  group["communicators"][1]["group"] = json::parse("[[0, 3, 1]]");
  EXPECT_THAT(differences(good_oracle(), group), ElementsAre(HasSubstr("group")));

  Oracle poorer = good_oracle();
  poorer.communicators.pop_back();
  EXPECT_THAT(differences(poorer, good_rank()), ElementsAre(HasSubstr("nobody made")));

  json unavailable = good_rank();
  unavailable["communicators"][1]["queues"]["send"]["state"] = "unavailable";
  EXPECT_THAT(differences(good_oracle(), unavailable), SizeIs(1));
}

TEST(OracleComparisonTest, ExpandsRuns) {
  EXPECT_THAT(expand_runs(json::parse("[[0, 4, 2], [7, 7, 1], [3, 1, -1]]")),
              ElementsAre(0, 2, 4, 7, 3, 2, 1));
  EXPECT_THAT(expand_runs(json()), IsEmpty());
}

} // namespace
} // namespace mqbridge::e2e
