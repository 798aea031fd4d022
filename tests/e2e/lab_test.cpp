// The laboratory itself: computers that ssh leads to, a Slurm, and what starts MPI jobs on them.
// None of it may outlive a test, or mean another computer than the test thinks.

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mpich.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/slurm_cluster.h"
#include "tests/e2e/harness/ssh_nodes.h"
#include "tests/support/eventually.h"
#include "tests/support/process_table.h"
#include "tests/support/requirements.h"

#include <csignal>
#include <fmt/format.h>
#include <functional>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using test::eventually;
using testing::HasSubstr;
using testing::SizeIs;

class SshNodesTest : public testing::Test {
protected:
  void SetUp() override {
    if (geteuid() != 0)
      GTEST_SKIP() << "only root has namespaces";
    MQBRIDGE_SKIP_IF_LACKING(SshNodes::lacking());
  }
};

Outcome shell(const std::string& line) {
  return run_program({{"sh", "-c", line}});
}

TEST_F(SshNodesTest, AreComputersOfTheirOwn) {
  const SshNodes nodes({{"node1"}, {"node2"}, {.name = "closed", .refuses_key = true}});
  EXPECT_EQ(shell("ssh node1 hostname").out, "node1\n");
  EXPECT_EQ(shell("ssh node2 hostname").out, "node2\n");
  EXPECT_EQ(nodes.logins("node1"), 1);
  const Outcome refused = shell("ssh -o BatchMode=yes closed hostname");
  EXPECT_EQ(refused.status(), 255);
  EXPECT_THAT(refused.err, HasSubstr("Permission denied"));

  test::ChildProcess sleeper({{"sh", "-c", "ssh node2 'echo $$; exec sleep 60'"}});
  ASSERT_TRUE(eventually(10s, [&] { return sleeper.out().ends_with("\n"); }));
  const pid_t inside = std::stoi(sleeper.out());
  ASSERT_TRUE(eventually(5s, [&] { return !nodes.processes("node2").named("sleep").empty(); }));
  const pid_t here = nodes.processes("node2").named("sleep").front();
  EXPECT_EQ(nodes.processes("node2").pid_here(inside), here);
  EXPECT_NE(here, inside);
  EXPECT_THAT(nodes.processes("node1").named("sleep"), SizeIs(0));
}

class SlurmClusterTest : public testing::Test {
protected:
  void SetUp() override {
    if (geteuid() != 0)
      GTEST_SKIP() << "only root has namespaces";
    MQBRIDGE_SKIP_IF_LACKING(SlurmCluster::lacking());
  }
};

TEST_F(SlurmClusterTest, RunsAnOpenMpiJobOverTwoNodes) {
  const SlurmCluster slurm(2);
  MpiJob job({.program = "oracle_poster",
              .arguments = {"mix"},
              .ranks = 4,
              .launcher = openmpi_by_srun({"-N2", "-n4"})});
  EXPECT_EQ(slurm.job(), "1");
  for (int rank = 0; rank < job.ranks(); ++rank) {
    const pid_t here = slurm.processes().pid_here(job.pid(rank));
    EXPECT_EQ(test::process_name(here), "oracle_poster");
    EXPECT_EQ(test::variable_of(here, "PMIX_RANK"), std::to_string(rank));
    EXPECT_EQ(test::variable_of(here, "SLURMD_NODENAME"), rank < 3 ? "n1" : "n2");
  }
  EXPECT_EQ(job.finish(), "");
}

TEST(HydraTest, RunsAJobOfDebiansMpich) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_debian_mpich());
  MpiJob job(debian_mpich_job("oracle_poster", {"mix"}));
  for (int rank = 0; rank < job.ranks(); ++rank) {
    EXPECT_EQ(test::variable_of(job.pid(rank), "PMI_RANK"), std::to_string(rank));
    EXPECT_NE(test::mapping_of(job.pid(rank), "libmpich.so"), 0U);
  }
  EXPECT_EQ(job.finish(), "");
}

/// The first process of what `make` makes, in a test that is killed then.
pid_t first_of_killed(const std::function<pid_t()>& make) {
  int words[2];
  if (pipe(words) != 0)
    return 0;
  const pid_t other = fork();
  if (other == 0) {
    const pid_t first = make();
    (void)!write(words[1], &first, sizeof first);
    pause();
  }
  pid_t first = 0;
  (void)!read(words[0], &first, sizeof first);
  EXPECT_NE(test::process_state(first), '\0');
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
  return first;
}

TEST_F(SlurmClusterTest, EndsWithATestThatIsKilled) {
  const pid_t first = first_of_killed([] {
    const auto* slurm = new SlurmCluster(1);
    new MpiJob({.arguments = {"mix"}, .launcher = openmpi_by_srun({"-n2"})});
    return slurm->processes().first();
  });
  EXPECT_TRUE(eventually(10s, [&] {
    const char state = test::process_state(first);
    return state == '\0' || state == 'Z';
  }));
}

TEST_F(SshNodesTest, EndWithATestThatIsKilled) {
  const pid_t first = first_of_killed([] {
    const auto* nodes = new SshNodes({{"node1"}});
    return nodes->processes("node1").first();
  });
  EXPECT_TRUE(eventually(10s, [&] {
    const char state = test::process_state(first);
    return state == '\0' || state == 'Z';
  }));
}

} // namespace
} // namespace mqbridge::e2e
