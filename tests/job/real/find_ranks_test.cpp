// Ranks of real jobs, found as a user has them found. What they are is known from what they wrote.

#include "tests/e2e/harness/census.h"
#include "tests/e2e/harness/mpich.h"
#include "tests/e2e/harness/slurm_cluster.h"
#include "tests/e2e/harness/ssh_nodes.h"
#include "tests/job/real/found_jobs.h"
#include "tests/support/environment_variable.h"
#include "tests/support/host_mpi.h"
#include "tests/support/process_table.h"
#include "tests/support/requirements.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <unistd.h>

namespace mqbridge::test {
namespace {

using e2e::MpiJob;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

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
    EXPECT_EQ(rank.target.rank_source, RankSource::environ);
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
  EXPECT_EQ(found.ranks.front().target.rank_source,
            test::openmpi_version() < "5" ? RankSource::proctable : RankSource::environ);
  EXPECT_EQ(found.ranks.front().mpi, "Open MPI");
  EXPECT_EQ(found.size, 8);
  EXPECT_EQ(found.name, job_with(finder.find(), job.pid(0))->name);
  EXPECT_FALSE(is_stopped(job.launcher()));
  EXPECT_EQ(job.finish(), "");
}

TEST(RealRanks, OfAScriptAreWhatItHasStarted) {
  TempDirectory directory;
  const auto script = (directory.path() / "start.sh").string();
  std::ofstream(script) << "#!/bin/sh\n\"$@\"\nexit $?\n";
  std::filesystem::permissions(script, std::filesystem::perms{0755});
  MpiJob job({.arguments = {"mix"},
              .launcher = {"mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "pml",
                           "ob1", "--mca", "btl", "self,vader", "-np", "2", script}});
  Finder finder;
  const auto findings = finder.find_mpirun(job.launcher());
  ASSERT_EQ(findings.jobs.size(), 1U) << faults_of(findings);
  EXPECT_EQ(pids_of(findings.jobs.front()), pids_of(job));
  EXPECT_THAT(findings.jobs.front().ranks.front().executable, EndsWith("/oracle_poster"));
  EXPECT_EQ(job.finish(), "");
}

TEST(RealRanks, OfHydraAreFoundByItsControlPortWhereItHasNoTable) {
  MQBRIDGE_SKIP_IF_LACKING(e2e::lacking_debian_mpich());
  MpiJob one(e2e::debian_mpich_job("oracle_poster", {"mix"}));
  MpiJob other(e2e::debian_mpich_job("oracle_poster", {"mix"}));
  Finder finder;
  const auto all = finder.find();
  const auto* const found = job_with(all, one.pid(0));
  const auto* const second = job_with(all, other.pid(0));
  ASSERT_TRUE(found != nullptr && second != nullptr) << faults_of(all);
  EXPECT_EQ(pids_of(*found), pids_of(one));
  EXPECT_EQ(pids_of(*second), pids_of(other));
  EXPECT_EQ(found->ranks.front().mpi, "MPICH");
  EXPECT_THAT(found->arguments, ElementsAre("--mpirun", std::to_string(one.launcher())));

  const auto by_launcher = finder.find_mpirun(one.launcher());
  ASSERT_EQ(by_launcher.jobs.size(), 1U) << faults_of(by_launcher);
  EXPECT_EQ(faults_of(by_launcher), "");
  EXPECT_EQ(pids_of(by_launcher.jobs.front()), pids_of(one));
  EXPECT_FALSE(is_stopped(one.launcher()));
}

TEST(RealRanks, OfWhatStartedNoneAreNone) {
  ChildProcess sleeper({{"sleep", "60"}});
  Finder finder;
  const auto findings = finder.find_mpirun(sleeper.pid());
  EXPECT_THAT(findings.jobs, IsEmpty());
  EXPECT_THAT(faults_of(findings), HasSubstr("mpirun.no_ranks: local:"));
  EXPECT_FALSE(is_stopped(sleeper.pid()));
  EXPECT_THAT(faults_of(finder.find_mpirun(2'000'000'000)), HasSubstr("attach."));
}

// Open MPI's mpirun fills its table when all ranks have come to MPI_Init.
TEST(RealRanks, BelowAnEmptyTableAreThoseThatDescendFromTheLauncher) {
  MpiJob job({.program = "mpi_state", .arguments = {"late"}});
  Finder finder;
  const auto findings = finder.find_mpirun(job.launcher());
  ASSERT_EQ(findings.jobs.size(), 1U) << faults_of(findings);
  EXPECT_EQ(faults_of(findings), "");
  const auto& found = findings.jobs.front();
  EXPECT_EQ(pids_of(found), pids_of(job));
  EXPECT_EQ(found.ranks.front().target.rank_source, RankSource::environ);
  if (test::openmpi_version() < "5") { // PRRTE has no table
    ASSERT_EQ(findings.warnings.size(), 1U);
    EXPECT_EQ(findings.warnings.front().error.code, "mpirun.by_descent");
  }
  EXPECT_FALSE(is_stopped(job.launcher()));
  EXPECT_EQ(job.finish(), "");
}

TEST(RealRanks, OfAJobThatTheirsHasSpawnedAreThoseOfTheSameLauncher) {
  MpiJob job({.program = "verdict", .arguments = {"spawned"}, .btl = "vader,tcp", .spawned = 2});
  const auto pids = pids_of(job);
  Finder finder;
  const auto findings = finder.find_mpirun(job.launcher());
  ASSERT_EQ(findings.jobs.size(), 2U) << faults_of(findings);
  EXPECT_EQ(faults_of(findings), "");
  const auto& parents = findings.jobs.front();
  const auto& children = findings.jobs.back();
  EXPECT_THAT(pids_of(parents), ElementsAre(pids[0], pids[1]));
  EXPECT_THAT(pids_of(children), ElementsAre(pids[2], pids[3]));
  EXPECT_NE(parents.name, children.name);
  for (const auto& each : findings.jobs)
    EXPECT_THAT(each.arguments, ElementsAre("--mpirun", std::to_string(job.launcher())));
}

TEST(RealRanks, OneThatIsGivenAsALauncherSaysSoAndNamesItsOwn) {
  MpiJob job({.arguments = {"mix"}});
  Finder finder;
  const auto findings = finder.find_mpirun(job.pid(1));
  EXPECT_THAT(findings.jobs, IsEmpty());
  EXPECT_THAT(faults_of(findings),
              HasSubstr("mpirun.is_rank: local:" + std::to_string(job.pid(1)) + " is rank 1 of "));
  EXPECT_THAT(
      faults_of(findings),
      HasSubstr(fmt::format("its {}: --mpirun {}",
                            test::openmpi_version() < "5" ? "mpirun" : "prterun", job.launcher())));
  EXPECT_EQ(job.finish(), "");
}

struct RealSlurm : testing::Test {
  void SetUp() override {
    if (::geteuid() != 0)
      GTEST_SKIP() << "only root has namespaces";
    MQBRIDGE_SKIP_IF_LACKING(e2e::SlurmCluster::lacking());
  }
};

TEST_F(RealSlurm, RanksAreFoundOnTheNodesOfAJob) {
  const e2e::SlurmCluster slurm(2);
  MpiJob job({.arguments = {"mix"}, .ranks = 4, .launcher = e2e::openmpi_by_srun({"-N2", "-n4"})});
  Finder finder;
  JobRequest request;
  request.slurm = SlurmStep{slurm.job(), "0"};
  const auto findings = finder.find(request);
  ASSERT_EQ(findings.jobs.size(), 1U) << faults_of(findings);
  EXPECT_EQ(faults_of(findings), "");
  const auto& found = findings.jobs.front();
  EXPECT_EQ(pids_of(found), pids_of(job));
  EXPECT_EQ(found.size, 4);
  EXPECT_THAT(found.arguments, ElementsAre("--slurm", slurm.job() + ".0"));
  for (const auto& rank : found.ranks) // which node, by what the rank's own environment says
    EXPECT_EQ(rank.node, variable_of(slurm.processes().pid_here(static_cast<pid_t>(*rank.pid)),
                                     "SLURMD_NODENAME"));

  request.slurm->step = "7";
  EXPECT_THAT(faults_of(finder.find(request)), HasSubstr("slurm.no_ranks"));
  request.slurm = SlurmStep{"4711", std::nullopt};
  EXPECT_THAT(faults_of(finder.find(request)), HasSubstr("slurm.query: squeue failed"));

  const auto by_srun = finder.find_mpirun(job.launcher()); // the table of srun itself
  ASSERT_EQ(by_srun.jobs.size(), 1U) << faults_of(by_srun);
  EXPECT_EQ(pids_of(by_srun.jobs.front()), pids_of(job));
  EXPECT_THAT(by_srun.jobs.front().ranks.back().target.text(), StartsWith("srun:1:n2:"));
  EXPECT_EQ(job.finish(), "");

  MpiJob parts({.arguments = {"mix"},
                .ranks = 3,
                .launcher = e2e::openmpi_by_srun(
                    {"-N1", "-n2", "-w", "n1", ":", "-N1", "-n1", "-w", "n2"})});
  request.slurm = SlurmStep{slurm.job(), std::nullopt};
  const auto of_parts = finder.find(request);
  ASSERT_EQ(of_parts.jobs.size(), 1U) << faults_of(of_parts);
  EXPECT_EQ(faults_of(of_parts), "");
  EXPECT_EQ(pids_of(of_parts.jobs.front()), pids_of(parts));
  EXPECT_EQ(of_parts.jobs.front().size, 3);
  EXPECT_EQ(of_parts.jobs.front().ranks.back().node, "n2");
  // Whether such a job comes to its end is between Slurm and Open MPI: once it did not.
  EXPECT_THAT(e2e::still_held(pids_of(parts), std::chrono::seconds(5)), testing::IsEmpty());
}

TEST(RealNodes, OneThatIsDeadCostsNoOther) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "only root has namespaces";
  MQBRIDGE_SKIP_IF_LACKING(e2e::SshNodes::lacking());
  const e2e::SshNodes nodes({{"node1"}, {.name = "closed", .refuses_key = true}});
  MpiJob job({.arguments = {"mix"},
              .launcher = {"ssh", "node1", "mpirun", "--allow-run-as-root", "--oversubscribe",
                           "--mca", "pml", "ob1", "--mca", "btl", "self,vader", "-np", "2"}});
  Finder finder;
  const auto findings = finder.find(on_nodes({"closed", "node1"}));
  const auto* const found = job_with(findings, job.pid(0));
  ASSERT_TRUE(found != nullptr) << faults_of(findings);
  EXPECT_EQ(pids_of(*found), pids_of(job));
  EXPECT_EQ(found->ranks.front().node, "node1");
  EXPECT_THAT(found->arguments, ElementsAre("--mpirun", StartsWith("ssh:node1:")));
  ASSERT_EQ(findings.faults.size(), 1U) << faults_of(findings);
  EXPECT_EQ(findings.faults.front().node, "closed");
  EXPECT_EQ(job.finish(), "");
}

/// What a search on a node comes to whose login runs this.
std::string faults_behind(const std::string& login) {
  TempDirectory directory;
  const auto ssh = directory.path() / "ssh";
  std::ofstream(ssh) << "#!/bin/sh\ncase \"$*\" in *-G*) exit 0;; esac\n" << login << "\n";
  std::filesystem::permissions(ssh, std::filesystem::perms{0755});
  const EnvironmentVariable path("PATH", directory.path().string() + ":" + std::getenv("PATH"));
  return faults_of(Finder(std::chrono::milliseconds(300)).find(on_nodes({"node1"})));
}

TEST(NodeBehindALogin, ThatPrintsOrNeverEndsIsNamedWithTheLineThatTriesIt) {
  const auto prints = faults_behind("echo You have new mail.; exec cat >/dev/null");
  EXPECT_THAT(prints, HasSubstr("node1 node.no_stub: "));
  EXPECT_THAT(prints, HasSubstr("You have new mail."));
  EXPECT_THAT(prints, HasSubstr("ssh -o BatchMode=yes node1 true"));
  EXPECT_THAT(faults_behind("exec cat >/dev/null"), HasSubstr("node1 node.no_stub: "));
  EXPECT_THAT(faults_behind("echo 'sh: gdbserver: not found' >&2; exit 127"),
              HasSubstr("node1 node.no_gdbserver: "));
}

} // namespace
} // namespace mqbridge::test
