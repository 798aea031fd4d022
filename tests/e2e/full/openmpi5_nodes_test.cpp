// Jobs of Open MPI 5 on two nodes, network namespaces with an sshd each. Their launchers have no
// table: the ranks are found on the nodes that the launcher's own ssh commands lead to. What a rank
// is and posted is known from its own log.

#include "tests/e2e/harness/census.h"
#include "tests/e2e/harness/debian13.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/oracle.h"
#include "tests/e2e/harness/ssh_nodes.h"
#include "tests/support/eventually.h"
#include "tests/support/process_table.h"
#include "tests/support/requirements.h"

#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <unistd.h>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class OpenMpi5NodesTest : public testing::Test {
protected:
  void SetUp() override {
    if (geteuid() != 0)
      GTEST_SKIP() << "only root has namespaces";
    MQBRIDGE_SKIP_IF_LACKING(SshNodes::lacking());
    MQBRIDGE_SKIP_IF_LACKING(lacking_debian13());
  }
};

/// prterun on this computer, two ranks on each of node1 and node2.
JobSpec over_two_nodes(const Debian13OnNodes& debian) {
  JobSpec spec{.arguments = {"mix"}, .ranks = 4, .launcher = debian.command("mpirun.openmpi")};
  for (const auto& options :
       {debian.daemon_options(), std::vector<std::string>{"--host", "node1:2,node2:2"},
        debian.rank_options(2, 2)})
    spec.launcher.insert(spec.launcher.end(), options.begin(), options.end());
  spec.environment = root_may_run();
  return spec;
}

std::vector<pid_t> pids_here(const SshNodes& nodes, const MpiJob& job) {
  std::vector<pid_t> pids;
  for (int rank = 0; rank < job.ranks(); ++rank)
    pids.push_back(nodes.processes(rank < 2 ? "node1" : "node2").pid_here(job.pid(rank)));
  return pids;
}

std::string host_said_by(pid_t rank) {
  return test::variable_of(rank, "PMIX_HOSTNAME").value_or("");
}

void expect_rank(const json& rank, int number, const MpiJob& job, pid_t here) {
  SCOPED_TRACE(number);
  EXPECT_EQ(rank["rank"], number);
  EXPECT_EQ(rank["world_rank"], number);
  EXPECT_EQ(rank["pid"], job.pid(number));
  EXPECT_EQ(rank["host"], host_said_by(here));
  EXPECT_EQ(rank["status"], "ok") << rank["errors"].dump(1);
  auto oracle = read_oracle(job.directory(), number);
  oracle.internal = 2; // coll/han's: of the ranks of a node, and of the nodes' first ranks
  EXPECT_THAT(differences(oracle, rank), IsEmpty());
}

TEST_F(OpenMpi5NodesTest, AJobOfPrterunIsFoundAndDumped) {
  const SshNodes nodes({{"node1"}, {"node2"}});
  const Debian13OnNodes debian(nodes);
  MpiJob job(over_two_nodes(debian));
  auto here = pids_here(nodes, job);
  const Census census;
  const DumpOutcome dump =
      dump_json({"--mpirun", std::to_string(job.launcher()), "--fetch-files", "always"});
  ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  ASSERT_EQ(dump.document["ranks"].size(), 4U);
  EXPECT_THAT(dump.document["errors"], IsEmpty());
  for (int number = 0; number < job.ranks(); ++number) {
    const auto index = static_cast<std::size_t>(number);
    expect_rank(dump.document["ranks"][index], number, job, here[index]);
  }
  here.push_back(job.launcher());
  EXPECT_THAT(still_held(here, 5s), IsEmpty());
  EXPECT_THAT(census.left_behind(5s), IsEmpty());
  EXPECT_EQ(job.finish(), "");
}

TEST_F(OpenMpi5NodesTest, ANodeThatIsNotReachedIsSaidWithTheRanksThatAreMissing) {
  const SshNodes nodes({{"node1"}, {"node2"}});
  const Debian13OnNodes debian(nodes);
  MpiJob job(over_two_nodes(debian));
  nodes.configure("Host node2\n  IdentityFile /nowhere/key\n  PubkeyAuthentication no\n");
  const Outcome ranks = run_mqbridge({"ranks", "--mpirun", std::to_string(job.launcher())});
  EXPECT_EQ(ranks.status(), 1) << testing::PrintToString(ranks);
  for (int rank = 0; rank < 2; ++rank)
    EXPECT_THAT(ranks.out, HasSubstr(fmt::format("ssh:node1:{}\n", job.pid(rank))));
  EXPECT_THAT(ranks.out, Not(HasSubstr("ssh:node2:")));
  EXPECT_THAT(ranks.out, HasSubstr("Permission denied"));
  EXPECT_THAT(ranks.out, HasSubstr("mpirun.ranks_missing"));
  EXPECT_THAT(ranks.out, HasSubstr("2 of the 4 ranks of job"));
  EXPECT_EQ(job.finish(), "");
}

TEST_F(OpenMpi5NodesTest, JobsOfOneDvmAreToldApart) {
  const SshNodes nodes({{"node1"}, {"node2"}});
  const Debian13OnNodes debian(nodes);
  const test::TempDirectory directory;
  const auto uri = directory / "uri";
  test::ChildSpec dvm = {debian.command("prte"), root_may_run()};
  for (const std::string& word : debian.daemon_options())
    dvm.argv.push_back(word);
  for (const std::string& word :
       std::vector<std::string>{"--host", "node1:4,node2:4", "--report-uri", uri.string()})
    dvm.argv.push_back(word);
  dvm.environment.emplace_back("PMIX_MCA_gds", "hash");
  test::ChildProcess prte(dvm);
  ASSERT_TRUE(test::eventually(30s,
                               [&] {
                                 return std::filesystem::exists(uri) &&
                                        prte.out().find("ready") != std::string::npos;
                               }))
      << prte.out() << prte.err();
  JobSpec spec{.arguments = {"mix"}, .ranks = 4, .launcher = debian.command("prun")};
  for (const std::string& word : std::vector<std::string>{"--dvm-uri", "file:" + uri.string()})
    spec.launcher.push_back(word);
  for (const std::string& word : debian.rank_options(2, 2))
    spec.launcher.push_back(word);
  spec.environment = root_may_run();
  MpiJob one(spec);
  MpiJob other(spec);
  const DumpOutcome dump =
      dump_json({"--mpirun", std::to_string(prte.pid()), "--fetch-files", "always"});
  EXPECT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  ASSERT_EQ(dump.document["ranks"].size(), 8U);
  for (const MpiJob* job : {&one, &other}) {
    const auto here = pids_here(nodes, *job);
    const auto name = test::variable_of(here[0], "PMIX_NAMESPACE");
    ASSERT_TRUE(name);
    int number = 0;
    for (const json& rank : dump.document["ranks"])
      if (rank["job_id"].get<std::string>().ends_with(":" + *name) && number < job->ranks()) {
        expect_rank(rank, number, *job, here[static_cast<std::size_t>(number)]);
        ++number;
      }
    EXPECT_EQ(number, job->ranks());
  }
  // prun itself starts nothing.
  const Outcome prun = run_mqbridge({"ranks", "--mpirun", std::to_string(one.launcher())});
  EXPECT_EQ(prun.status(), 3) << testing::PrintToString(prun);
  EXPECT_EQ(one.finish(), "");
  EXPECT_EQ(other.finish(), "");
}

} // namespace
} // namespace mqbridge::e2e
