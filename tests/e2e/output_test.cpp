// Every format on a real job: what stands in one stands in all. Exact layout is the business of the
// report's own tests.

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/oracle.h"
#include "tests/e2e/harness/schema.h"
#include "tests/support/host_mpi.h"
#include "tests/support/temp_directory.h"

#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <sstream>

namespace mqbridge::e2e {
namespace {

using nlohmann::json;
using test::TempDirectory;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  return lines;
}

class OutputTest : public testing::Test {
protected:
  Outcome dump(std::vector<std::string> options) {
    options.insert(options.begin(), "dump");
    options.push_back(local_target(job_.pid(0)));
    options.push_back(local_target(job_.pid(1)));
    return run_mqbridge(options);
  }
  void TearDown() override { EXPECT_EQ(job_.finish(), ""); }

  MpiJob job_{{.arguments = {"mix"}}};
};

TEST_F(OutputTest, JsonOfARealJobIsOfTheSchema) {
  const Outcome text = dump({"--format", "json", "--raw"});
  ASSERT_EQ(text.status(), 0) << testing::PrintToString(text);
  EXPECT_EQ(schema_violation(json::parse(text.out)), "");
}

TEST_F(OutputTest, TextNamesRanksCommunicatorsAndOperations) {
  const Outcome text = dump({"--full"});
  ASSERT_EQ(text.status(), 0) << testing::PrintToString(text);
  for (const char* part :
       {"MPI_COMM_WORLD", "\"halo\"", "\"reversed\"", "\"wild cards\"", "ANY", "1 MiB", "x86_64",
        "pending", "complete", "those not polled yet are not listed"})
    EXPECT_THAT(text.out, HasSubstr(part));
  EXPECT_THAT(text.out, HasSubstr(fmt::format("Open MPI {} (ob1)", test::openmpi_version())));
  for (const int rank : {0, 1})
    EXPECT_THAT(text.out, HasSubstr(fmt::format("Rank {}", rank)));
  for (const std::string& line : lines_of(text.out))
    EXPECT_LE(line.size(), 100U) << line;
  EXPECT_THAT(text.out, Not(HasSubstr("4294967295")));
}

/// Open MPI's DLL lists requests as they lie in memory: of 200 receives posted with the tags 0, 1,
/// 2, ... the first ones come fourth and later.
TEST(LongQueue, IsARunInTheOrderOfPosting) {
  SingleProcess process("many_receives", {"200"});
  const Outcome text = run_mqbridge({"dump", local_target(process.pid())});
  ASSERT_EQ(text.status(), 0) << testing::PrintToString(text);
  EXPECT_THAT(text.out, ContainsRegex("recv   pending  0 +0-199  200 x 8 B  same peer and size"));
  EXPECT_EQ(process.finish(), "");
}

TEST_F(OutputTest, SummaryIsTheTableOnly) {
  const Outcome text = dump({"--summary"});
  ASSERT_EQ(text.status(), 0) << testing::PrintToString(text);
  EXPECT_THAT(text.out, HasSubstr("RANK"));
  EXPECT_THAT(text.out, Not(HasSubstr("halo")));
}

TEST_F(OutputTest, NdjsonHasAHeaderEachRankAndASummary) {
  const Outcome text = dump({"--format", "ndjson"});
  ASSERT_EQ(text.status(), 0) << testing::PrintToString(text);
  const std::vector<std::string> lines = lines_of(text.out);
  ASSERT_EQ(lines.size(), 4U);
  std::vector<json> parsed;
  for (const std::string& line : lines)
    parsed.push_back(json::parse(line));
  EXPECT_EQ(parsed.front()["type"], "header");
  EXPECT_EQ(parsed.front()["schema"], "mqbridge.dump/1");
  EXPECT_EQ(parsed.back()["type"], "summary");
  for (const std::size_t line : {1U, 2U}) {
    EXPECT_EQ(parsed[line]["type"], "rank");
    const int rank = parsed[line]["world_rank"];
    EXPECT_THAT(differences(read_oracle(job_.directory(), rank), parsed[line]), IsEmpty());
  }
}

TEST_F(OutputTest, TsvHasALineForEachOperationAndAsManyColumnsInEach) {
  const Outcome text = dump({"--format", "tsv"});
  ASSERT_EQ(text.status(), 0) << testing::PrintToString(text);
  const std::vector<std::string> lines = lines_of(text.out);
  ASSERT_FALSE(lines.empty());
  std::size_t operations = 0;
  const auto tabs = std::count(lines[0].begin(), lines[0].end(), '\t');
  for (const std::string& line : lines) {
    EXPECT_EQ(std::count(line.begin(), line.end(), '\t'), tabs) << line;
    // Whatever its status. The oracle does not tell which messages have arrived.
    operations += line.starts_with("operation\t") && line.find("\tunexpected\t") == line.npos;
  }
  EXPECT_EQ(operations, read_oracle(job_.directory(), 0).operations.size() +
                            read_oracle(job_.directory(), 1).operations.size());
}

TEST_F(OutputTest, RawShowsWhatTheLibrarySaid) {
  const Outcome text = dump({"--format", "json", "--raw"});
  ASSERT_EQ(text.status(), 0) << testing::PrintToString(text);
  // MPI_ANY_SOURCE as the debug DLL says it: not sign-extended.
  EXPECT_THAT(text.out, HasSubstr("4294967295"));
}

TEST_F(OutputTest, FiltersLeaveOutAndStillCount) {
  const Outcome text =
      dump({"--format", "json", "--comm", "halo", "--queue", "receive", "--tag", "101"});
  ASSERT_EQ(text.status(), 0) << testing::PrintToString(text);
  const json document = json::parse(text.out);
  EXPECT_FALSE(document["filters"].empty());
  for (const json& rank : document["ranks"]) {
    ASSERT_EQ(rank["communicators"].size(), 1U);
    const json& queues = rank["communicators"][0]["queues"];
    EXPECT_EQ(queues["send"]["state"], "not_requested");
    EXPECT_EQ(queues["receive"]["operations"].size(), 1U);
    EXPECT_GT(queues["receive"]["total"], 1);
  }
}

TEST_F(OutputTest, MaxOperationsCutsAQueueAndSaysSo) {
  const Outcome text = dump({"--format", "json", "--max-operations", "2"});
  EXPECT_EQ(text.status(), 1) << testing::PrintToString(text);
  const json document = json::parse(text.out);
  for (const json& rank : document["ranks"]) {
    EXPECT_EQ(rank["status"], "partial");
    const json queue = find_communicator(rank, "halo")["queues"]["receive"];
    EXPECT_EQ(queue["operations"].size(), 2U);
    EXPECT_EQ(queue["truncated_by"], "operations");
    EXPECT_EQ(queue["total"], nullptr);
  }
}

TEST_F(OutputTest, StatisticsHaveEveryPhase) {
  const Outcome text = dump({"--stats"});
  ASSERT_EQ(text.status(), 0) << testing::PrintToString(text);
  for (const char* phase : {"connect", "attach", "images", "types", "walk", "detach"})
    EXPECT_THAT(text.out + text.err, HasSubstr(phase));
}

TEST_F(OutputTest, TraceHoldsThePacketsAndNoWrite) {
  const TempDirectory directory;
  const std::string trace = (directory / "trace").string();
  const Outcome text = dump({"--trace", trace});
  ASSERT_EQ(text.status(), 0) << testing::PrintToString(text);
  std::stringstream content;
  content << std::ifstream(trace).rdbuf();
  EXPECT_THAT(content.str(), HasSubstr("qSupported"));
  EXPECT_THAT(content.str(), HasSubstr("D"));
}

TEST_F(OutputTest, FileIsWrittenWholeOrNotAtAll) {
  const TempDirectory directory;
  const std::filesystem::path file = directory / "dump.json";
  const Outcome written = dump({"--format", "json", "-o", file.string()});
  ASSERT_EQ(written.status(), 0) << testing::PrintToString(written);
  EXPECT_EQ(written.out, "");
  EXPECT_TRUE(json::accept(std::ifstream(file)));

  const Outcome full = dump({"--format", "json", "-o", "/dev/full"});
  EXPECT_EQ(full.status(), 5);
  EXPECT_THAT(full.err, HasSubstr("/dev/full"));

  const Outcome nowhere = dump({"-o", (directory / "no" / "such" / "file").string()});
  EXPECT_EQ(nowhere.status(), 5);
  EXPECT_THAT(nowhere.err, HasSubstr("no/such/file"));
}

} // namespace
} // namespace mqbridge::e2e
