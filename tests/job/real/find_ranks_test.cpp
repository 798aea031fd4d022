// Ranks of real jobs, found as a user has them found. What they are is known from what they wrote.

#include "tests/e2e/harness/mpich.h"
#include "tests/job/real/found_jobs.h"
#include "tests/support/process_table.h"
#include "tests/support/requirements.h"

#include <gmock/gmock.h>
#include <unistd.h>

namespace mqbridge::test {
namespace {

using e2e::MpiJob;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

TEST(RealRanks, OfTwoJobsOfOneUserOnOneNodeAreToldApart) {
  MpiJob one({.arguments = {"mix"}, .ranks = 4});
  MpiJob other({.arguments = {"mix"}, .ranks = 2});
  Finder finder;
  const auto findings = finder.find();
  const auto* const found = job_with(findings, one.pid(0));
  const auto* const second = job_with(findings, other.pid(0));
  ASSERT_TRUE(found != nullptr && second != nullptr) << faults_of(findings);
  EXPECT_EQ(pids_of(*found), pids_of(one));
  EXPECT_EQ(pids_of(*second), pids_of(other));
  EXPECT_EQ(found->size, 4);
  EXPECT_NE(found->name, second->name);
  EXPECT_THAT(found->arguments, ElementsAre("--mpirun", std::to_string(one.launcher())));
  for (const auto& rank : found->ranks) {
    EXPECT_EQ(rank.mpi, "Open MPI");
    EXPECT_EQ(rank.source, RankSource::environ);
    EXPECT_THAT(rank.executable, EndsWith("/oracle_poster"));
    EXPECT_EQ(rank.target.keys.job, found->name);
    EXPECT_EQ(rank.target.text(), "local:" + std::to_string(*rank.pid));
  }
}

TEST(RealRanks, AreThoseOfMpirunsTable) {
  MpiJob job({.arguments = {"mix"}, .ranks = 8});
  Finder finder;
  const auto findings = finder.find_mpirun(job.launcher());
  ASSERT_EQ(findings.jobs.size(), 1U) << faults_of(findings);
  const auto& found = findings.jobs.front();
  EXPECT_EQ(faults_of(findings), "");
  EXPECT_EQ(pids_of(found), pids_of(job));
  EXPECT_EQ(found.ranks.front().source, RankSource::proctable);
  EXPECT_EQ(found.ranks.front().mpi, "Open MPI");
  EXPECT_EQ(found.size, 8);
  EXPECT_EQ(found.name, job_with(finder.find(), job.pid(0))->name);
  EXPECT_FALSE(is_stopped(job.launcher()));
  EXPECT_EQ(job.finish(), "");
}

} // namespace
} // namespace mqbridge::test
