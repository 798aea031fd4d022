// A debug DLL of level 3 (tests/mqs/dlls/jobs.c) in a dump of two real jobs at once: each job has
// one worker, which knows the ranks that came before. What the DLL says of a rank is in the name of
// its only communicator: the how manyth process of the job it is, its identity, and the earlier
// ones.

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace mqbridge::e2e {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

std::string dll(const std::string& behaviour) {
  return fmt::format("{}/{}.so", MQBRIDGE_TEST_DLLS, behaviour);
}

TEST(JobsOfLevel3, EachHasOneWorker) {
  MpiJob first({.arguments = {"mix"}});
  MpiJob second({.arguments = {"mix"}});
  const DumpOutcome dump = dump_json({"--dll", dll("JOB_KEEPS_A_JOB"), local_target(first.pid(0)),
                                      local_target(second.pid(0)), local_target(first.pid(1)),
                                      local_target(second.pid(1))});
  ASSERT_EQ(dump.document["ranks"].size(), 4U) << testing::PrintToString<Outcome>(dump);
  std::map<std::string, std::vector<std::string>> numbers;
  for (const json& rank : dump.document["ranks"]) {
    EXPECT_EQ(rank["dll"]["compatibility"], 3);
    ASSERT_EQ(rank["communicators"].size(), 1U) << testing::PrintToString<Outcome>(dump);
    const std::string name = rank["communicators"][0]["name"];
    const auto number = name.substr(0, 1);
    EXPECT_EQ(name,
              fmt::format("{}:{}:{}", number, rank["rank"].get<int>(), std::stoi(number) - 1));
    numbers[rank["job_id"]].push_back(number);
  }
  ASSERT_EQ(numbers.size(), 2U);
  for (const auto& [job, of_job] : numbers)
    EXPECT_THAT(of_job, UnorderedElementsAre("1", "2"));
  EXPECT_EQ(first.finish(), "");
  EXPECT_EQ(second.finish(), "");
}

TEST(JobsOfLevel3, WhoseWorkerDiesLoseWhatTheDllKnew) {
  MpiJob job({.arguments = {"mix"}, .ranks = 3});
  const DumpOutcome dump =
      dump_json({"--jobs", "1", "--dll", dll("JOB_SECOND_CRASHES"), local_target(job.pid(0)),
                 local_target(job.pid(1)), local_target(job.pid(2))});
  const json& ranks = dump.document["ranks"];
  ASSERT_EQ(ranks.size(), 3U) << testing::PrintToString<Outcome>(dump);
  EXPECT_EQ(ranks[0]["communicators"][0]["name"], "1:0:0");
  EXPECT_FALSE(find_error(ranks[1], "dll.crashed").is_null());
  EXPECT_EQ(ranks[2]["communicators"][0]["name"], "1:2:0");
  const json lost = find_error(ranks[2], "dll.job_lost");
  ASSERT_FALSE(lost.is_null()) << testing::PrintToString<Outcome>(dump);
  EXPECT_EQ(lost["level"], "warning");
  EXPECT_EQ(job.finish(), "");
}

} // namespace
} // namespace mqbridge::e2e
