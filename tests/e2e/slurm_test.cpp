// Jobs of a Slurm with two nodes on this machine. Which process is which rank is known from what
// the processes were started with; what they posted, from their own logs.

#include "tests/e2e/harness/census.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mpich.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/oracle.h"
#include "tests/e2e/harness/slurm_cluster.h"
#include "tests/support/process_table.h"
#include "tests/support/requirements.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sstream>
#include <unistd.h>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::IsEmpty;

class SlurmJobTest : public testing::Test {
protected:
  void SetUp() override {
    if (geteuid() != 0)
      GTEST_SKIP() << "only root has namespaces";
    MQBRIDGE_SKIP_IF_LACKING(SlurmCluster::lacking());
  }
};

std::vector<pid_t> pids_here(const SlurmCluster& slurm, const MpiJob& job) {
  std::vector<pid_t> pids;
  for (int rank = 0; rank < job.ranks(); ++rank)
    pids.push_back(slurm.processes().pid_here(job.pid(rank)));
  return pids;
}

void expect_all(const DumpOutcome& dump, const MpiJob& job, const std::vector<pid_t>& here) {
  ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  ASSERT_EQ(dump.document["ranks"].size(), static_cast<std::size_t>(job.ranks()));
  for (int number = 0; number < job.ranks(); ++number) {
    SCOPED_TRACE(number);
    const auto index = static_cast<std::size_t>(number);
    const json& rank = dump.document["ranks"][index];
    EXPECT_EQ(rank["rank"], number);
    EXPECT_EQ(rank["world_rank"], number);
    EXPECT_EQ(rank["pid"], job.pid(number));
    EXPECT_EQ(rank["host"], test::variable_of(here[index], "SLURMD_NODENAME"));
    EXPECT_EQ(rank["status"], "ok") << rank["errors"].dump(1);
    EXPECT_THAT(differences(read_oracle(job.directory(), number), rank), IsEmpty());
  }
}

TEST_F(SlurmJobTest, AJobOfOpenMpiIsFoundByItsNumberAndBySrun) {
  const SlurmCluster slurm(2);
  MpiJob job({.arguments = {"mix"},
              .ranks = 4,
              .launcher = openmpi_by_srun({"-N2", "-n4", "--ntasks-per-node=2"})});
  const auto here = pids_here(slurm, job);
  const Census census;
  auto all = here;
  all.push_back(job.launcher());
  for (const std::vector<std::string>& how : {std::vector<std::string>{"--slurm", slurm.job()},
                                              {"--slurm", slurm.job() + ".0"},
                                              {"--mpirun", std::to_string(job.launcher())}}) {
    SCOPED_TRACE(how[0] + " " + how[1]);
    expect_all(dump_json(how), job, here);
    EXPECT_THAT(still_held(all, 5s), IsEmpty());
    EXPECT_THAT(census.left_behind(5s), IsEmpty());
  }
  const Outcome doctor = run_mqbridge({"doctor", "--slurm", slurm.job()});
  EXPECT_EQ(doctor.status(), 0) << testing::PrintToString(doctor);
  EXPECT_THAT(doctor.out, testing::HasSubstr("mqbridge doctor   4 ranks on 2 nodes "));
  EXPECT_THAT(doctor.out, testing::HasSubstr("\nn[1-2]   2 nodes, 4 ranks ")) << "they are alike";
  EXPECT_THAT(doctor.out, testing::HasSubstr("\nok     others     nothing speaks against"));
  EXPECT_THAT(still_held(all, 5s), IsEmpty());
  EXPECT_THAT(census.left_behind(5s), IsEmpty());
  EXPECT_EQ(job.finish(), "");
}

TEST_F(SlurmJobTest, ItsNodesCollectAJobThemselves) {
  const SlurmCluster slurm(2);
  MpiJob job({.arguments = {"mix"}, .ranks = 4, .launcher = openmpi_by_srun({"-N2", "-n4"})});
  const auto here = pids_here(slurm, job);
  const Census census;
  const DumpOutcome dump = dump_json({"--collect", "--slurm", slurm.job() + ".0"});
  expect_all(dump, job, here);
  EXPECT_THAT(dump.document["errors"], IsEmpty());
  EXPECT_THAT(still_held(here, 5s), IsEmpty());
  EXPECT_THAT(census.left_behind(5s), IsEmpty());
  const auto filtered =
      dump_json({"--collect", "--slurm", slurm.job(), "--rank", "1", "--queue", "send"});
  EXPECT_EQ(filtered.status(), 0) << testing::PrintToString<Outcome>(filtered);
  ASSERT_EQ(filtered.document["ranks"].size(), 1U);
  const json& queues = filtered.document["ranks"][0]["communicators"][0]["queues"];
  EXPECT_EQ(queues["send"]["state"], "available");
  EXPECT_EQ(queues["receive"]["state"], "not_requested");
  EXPECT_EQ(job.finish(), "");
}

// Its daemons are started by srun, which names their nodes. Open MPI 5 has no table of its ranks.
TEST_F(SlurmJobTest, AJobOfMpirunInAnAllocationIsFoundOnBothNodes) {
  const SlurmCluster slurm(2);
  const auto launcher =
      openmpi_in_slurm({"salloc", "-N2", "--ntasks-per-node=2", "mpirun", "--allow-run-as-root"});
  MpiJob job({.arguments = {"mix"}, .ranks = 4, .launcher = launcher});
  const auto here = pids_here(slurm, job);
  const Census census;
  const auto mpirun = test::children_of(job.launcher());
  ASSERT_EQ(mpirun.size(), 1U);
  expect_all(dump_json({"--mpirun", std::to_string(mpirun.front())}), job, here);
  expect_all(dump_json({"--slurm", slurm.job()}), job, here);
  EXPECT_THAT(still_held(here, 5s), IsEmpty());
  EXPECT_THAT(census.left_behind(5s), IsEmpty());
  EXPECT_EQ(job.finish(), "");
}

// Components have jobs, and numbers of their ranks, of their own; the world is one.
TEST_F(SlurmJobTest, AHeterogeneousJobIsOneJob) {
  const SlurmCluster slurm(2);
  auto launcher = openmpi_by_srun({"--het-group=0,1"});
  const auto allocation = {"salloc", "-w", "n1", "-n2", ":", "-w", "n2", "-n1"};
  launcher.insert(launcher.begin(), allocation.begin(), allocation.end());
  MpiJob job({.arguments = {"mix"}, .ranks = 3, .launcher = launcher});
  const auto here = pids_here(slurm, job);
  const Census census;
  expect_all(dump_json({"--slurm", slurm.job()}), job, here);
  EXPECT_THAT(still_held(here, 5s), IsEmpty());
  EXPECT_THAT(census.left_behind(5s), IsEmpty());
  EXPECT_EQ(job.finish(), "");
}

TEST_F(SlurmJobTest, AJobOfMpichIsFound) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_debian_mpich());
  const SlurmCluster slurm(2);
  JobSpec spec = debian_mpich_job("oracle_poster", {"mix"}, 4);
  spec.launcher = {"srun", "--mpi=pmi2", "-N2", "-n4"};
  MpiJob job(spec);
  const Outcome found = run_mqbridge({"ranks", "--slurm", slurm.job()});
  EXPECT_EQ(found.status(), 0) << testing::PrintToString(found);
  for (int rank = 0; rank < job.ranks(); ++rank)
    EXPECT_THAT(found.out, testing::ContainsRegex(fmt::format("{}.*{}", rank, job.pid(rank))));
  EXPECT_EQ(job.finish(), "");
}

} // namespace
} // namespace mqbridge::e2e
