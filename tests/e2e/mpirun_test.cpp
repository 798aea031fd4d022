// Jobs of this computer, found by the process that started them: mpirun of this machine's own kind
// and of another word size, and mpiexec.hydra, which keeps no table of its ranks.

#include "tests/e2e/harness/census.h"
#include "tests/e2e/harness/foreign_platform.h"
#include "tests/e2e/harness/foreign_poster.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mpich.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/oracle.h"
#include "tests/support/requirements.h"
#include "tests/support/temp_directory.h"

#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <sstream>
#include <unistd.h>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<pid_t> all_of(const MpiJob& job) {
  std::vector<pid_t> pids = {job.launcher()};
  for (int rank = 0; rank < job.ranks(); ++rank)
    pids.push_back(job.pid(rank));
  return pids;
}

void expect_all(const DumpOutcome& dump, const MpiJob& job) {
  ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  ASSERT_EQ(dump.document["ranks"].size(), static_cast<std::size_t>(job.ranks()));
  for (int number = 0; number < job.ranks(); ++number) {
    SCOPED_TRACE(number);
    const json& rank = dump.document["ranks"][static_cast<std::size_t>(number)];
    EXPECT_EQ(rank["rank"], number);
    EXPECT_EQ(rank["world_rank"], number);
    EXPECT_EQ(rank["pid"], job.pid(number));
    EXPECT_THAT(differences(read_oracle(job.directory(), number), rank), IsEmpty());
  }
}

std::vector<std::string> by_mpirun(const MpiJob& job) {
  return {"--mpirun", std::to_string(job.launcher())};
}

TEST(MpirunTest, FindsItsRanksAndRunsOn) {
  MpiJob job({.arguments = {"mix"}, .ranks = 4});
  const Census census;
  expect_all(dump_json(by_mpirun(job)), job);
  EXPECT_THAT(still_held(all_of(job), 5s), IsEmpty());
  EXPECT_THAT(census.left_behind(5s), IsEmpty());
  EXPECT_EQ(job.finish(), "");
}

TEST(MpirunTest, GivenAsARankSaysWhatItIs) {
  MpiJob job({.arguments = {"mix"}});
  const Outcome outcome = run_mqbridge({"dump", local_target(job.launcher())});
  EXPECT_EQ(outcome.status(), 3) << testing::PrintToString(outcome);
  EXPECT_THAT(outcome.out + outcome.err, HasSubstr(fmt::format("--mpirun {}", job.launcher())));
  EXPECT_EQ(job.finish(), "");
}

// What is saved is what the other commands read.
TEST(MpirunTest, RanksAreSavedAsTargets) {
  MpiJob job({.arguments = {"mix"}});
  const test::TempDirectory directory;
  const std::string file = (directory / "targets").string();
  auto arguments = by_mpirun(job);
  arguments.insert(arguments.begin(), {"ranks", "--save", file});
  const Outcome found = run_mqbridge(arguments);
  EXPECT_EQ(found.status(), 0) << testing::PrintToString(found);
  expect_all(dump_json({"--targets", file}), job);
  EXPECT_EQ(job.finish(), "");
}

TEST(MpirunTest, OfAnotherWordSizeFindsItsRanks) {
  const ForeignPlatform& platform = foreign_platform("i386");
  MQBRIDGE_SKIP_IF_LACKING(lacking(platform));
  JobSpec spec = foreign_job(platform, "oracle_poster", 2);
  spec.arguments = {"mix"};
  MpiJob job(spec);
  const DumpOutcome dump = dump_json(by_mpirun(job));
  expect_all(dump, job);
  EXPECT_EQ(dump.document["ranks"][0]["platform"]["pointer_size"], 4);
  EXPECT_EQ(job.finish(), "");
}

TEST(MpirunTest, OfMpichWithoutATableItsRanksAreFoundByTheirEnvironments) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_debian_mpich());
  MpiJob job(debian_mpich_job("oracle_poster", {"mix"}, 3));
  const test::TempDirectory directory;
  const std::string file = (directory / "targets").string();
  auto arguments = by_mpirun(job);
  arguments.insert(arguments.begin(), {"ranks", "--save", file});
  const Outcome found = run_mqbridge(arguments);
  EXPECT_EQ(found.status(), 0) << testing::PrintToString(found);
  std::ifstream saved(file);
  const std::string targets{std::istreambuf_iterator<char>(saved), {}};
  for (int rank = 0; rank < job.ranks(); ++rank)
    EXPECT_THAT(targets, HasSubstr(fmt::format("{} local:{} ", rank, job.pid(rank))));
  EXPECT_EQ(job.finish(), "");
}

/// A script in which no other processes of this host are seen than its own. Its words: mqbridge,
/// `start DIRECTORY` starts a job of two ranks, which write who they are into it.
Outcome run_alone(const std::string& script) {
  const std::string words =
      fmt::format("mqbridge() {{ '{0}/mqbridge' \"$@\"; }}\n"
                  "start() {{ TMPDIR=$1 mpirun --allow-run-as-root --oversubscribe -np 2 "
                  "'{0}/inferiors/oracle_poster' \"$1\" mix >\"$1/words\" 2>&1 &\n"
                  "for i in $(seq 300); do [ -e \"$1/ready.0\" ] && [ -e \"$1/ready.1\" ] && "
                  "break; sleep 0.1; done; }}\n",
                  MQBRIDGE_BINARY_DIRECTORY);
  return run_program({{"unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "bash", "-c",
                       words + script}});
}

TEST(OneJob, OfThisHostIsMeantWhereNoTargetIsNamed) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root has namespaces";
  const test::TempDirectory one;
  const test::TempDirectory another;
  const test::TempDirectory third;
  const auto start = [](const test::TempDirectory& directory) {
    return fmt::format("start {}; ", directory.path().string());
  };
  const auto none = run_alone("mqbridge dump");
  EXPECT_EQ(none.status(), 3);
  EXPECT_THAT(none.err, HasSubstr("job.no_rank: no target is named, and no rank of an MPI job"));

  const auto dump = run_alone(start(one) + "mqbridge dump --format json");
  EXPECT_EQ(dump.status(), 0) << testing::PrintToString(dump);
  const auto document = json::parse(dump.out, nullptr, false);
  ASSERT_EQ(document["ranks"].size(), 2U) << dump.out;
  for (int rank = 0; rank < 2; ++rank)
    EXPECT_THAT(differences(read_oracle(one.path(), rank),
                            document["ranks"][static_cast<std::size_t>(rank)]),
                IsEmpty());

  const auto two = run_alone(start(another) + "first=$!; " + start(third) +
                             "mqbridge stacks; echo $? $first $!");
  EXPECT_EQ(two.status(), 0) << testing::PrintToString(two);
  std::istringstream said(two.out);
  std::string status;
  std::string first;
  std::string second;
  said >> status >> first >> second;
  EXPECT_EQ(status, "3");
  EXPECT_THAT(two.err, HasSubstr("job.not_one: no target is named, and 2 jobs run here"));
  for (const auto& pid : {first, second})
    EXPECT_THAT(two.err, HasSubstr("mqbridge stacks --mpirun " + pid + " "));
}

} // namespace
} // namespace mqbridge::e2e
