// Ranks of several nodes, put together.

#include "host/job/job_book.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace mqbridge::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

ScannedRank rank_of(const std::string& job, std::int64_t rank, std::int64_t size) {
  ScannedRank scanned;
  scanned.pid = 100 + rank;
  scanned.job = job;
  scanned.environment.rank = rank;
  scanned.environment.size = size;
  return scanned;
}

Node node(const std::string& name) {
  return {Launcher::ssh, name, {}};
}

/// "JOB RANK NODE" of each.
std::vector<std::string> book_ranks(const std::vector<FoundJob>& jobs) {
  std::vector<std::string> ranks;
  for (const auto& job : jobs)
    for (const auto& rank : job.ranks)
      ranks.push_back(fmt::format("{} {} {}", rank.target.keys.job.value_or("-"),
                                  rank.target.rank.value_or(-1), rank.node));
  return ranks;
}

TEST(JobBook, RanksOfSeveralNodesAreOneJob) {
  JobBook book;
  book.add(node("n2"), rank_of("j", 1, 2));
  book.add(node("n1"), rank_of("j", 0, 2));
  std::vector<FindTrouble> troubles;
  const auto jobs = book.jobs(troubles);
  EXPECT_THAT(book_ranks(jobs), ElementsAre("j 0 n1", "j 1 n2"));
  say_missing_ranks(jobs, troubles, "slurm.ranks_missing", "srun:JOB:NODE:PID");
  EXPECT_THAT(troubles, IsEmpty());
}

TEST(JobBook, JobsOfOneNameWhoseRanksRepeatAreOneForEachNode) {
  JobBook book;
  for (const auto* name : {"n1", "n2"})
    for (const std::int64_t rank : {0, 1})
      book.add(node(name), rank_of("j", rank, 2));
  std::vector<FindTrouble> warnings;
  const auto jobs = book.jobs(warnings);
  ASSERT_THAT(jobs, SizeIs(2));
  EXPECT_EQ(jobs[0].name, "j@n1");
  EXPECT_THAT(book_ranks(jobs), ElementsAre("j@n1 0 n1", "j@n1 1 n1", "j@n2 0 n2", "j@n2 1 n2"));
  ASSERT_THAT(warnings, SizeIs(1));
  EXPECT_EQ(warnings[0].error.code, "rank.twice");
}

TEST(JobBook, RanksThatWereNotFoundAreAFault) {
  JobBook book;
  for (std::int64_t rank = 0; rank < 15; ++rank)
    book.add(node("n1"), rank_of("j", rank, 16));
  std::vector<FindTrouble> faults;
  say_missing_ranks(book.jobs(faults), faults, "slurm.ranks_missing", "srun:JOB:NODE:PID");
  ASSERT_THAT(faults, SizeIs(1));
  EXPECT_EQ(faults[0].error.code, "slurm.ranks_missing");
  EXPECT_EQ(faults[0].processes, 1U);
}

} // namespace
} // namespace mqbridge::test
