// The nodes of a launcher's daemons, by the command lines among the processes of its nodes.

#include "host/job/daemon_nodes.h"
#include "tests/job/fake_node.h"
#include "tests/job/slurm_that_says.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace mqbridge::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

const NodeProcess launcher{"local:10", {}, 10};

NodeScan scan_jobs(FakeNode& node) {
  auto found = scan_node(node, "");
  EXPECT_TRUE(found) << found.error().message;
  return found ? std::move(*found) : NodeScan();
}

/// As the launcher of Open MPI 5 writes it.
std::vector<std::string> daemon_on(const std::string& host, int daemons,
                                   const std::string& space = "prterun-vm-10@0") {
  return {"/usr/bin/ssh",
          "-x",
          host,
          "PRTE_PREFIX=/usr;/usr/bin/prted",
          "--prtemca",
          "ess_base_nspace",
          fmt::format("\"{}\"", space),
          "--prtemca",
          "ess_base_num_procs",
          fmt::format("\"{}\"", daemons)};
}

struct Found {
  std::vector<std::string> targets; ///< for process 1 of each node
  std::vector<FindTrouble> faults;
};

Found started(DaemonNodes& daemons, const Node& from, FakeNode& node) {
  Found found;
  const std::vector<Node> nodes = {from};
  const std::vector<NodeScan> scans = {scan_jobs(node)};
  for (const auto& each : daemons.started_from(nodes, scans, found.faults))
    found.targets.push_back(each.target(1));
  return found;
}

TEST(DaemonNodes, AreWhereTheLaunchersOwnSshLeadsTo) {
  FakeNode node;
  node.add({.pid = 10, .name = "prterun"})
      .add({.pid = 11, .parent = 10, .name = "ssh", .command = daemon_on("n1", 3)})
      .add({.pid = 12, .parent = 10, .name = "bash", .command = {"bash", "agent", "me@n2"}})
      .add({.pid = 13, .parent = 12, .name = "ssh", .command = daemon_on("me@n2", 3)})
      .add({.pid = 20, .name = "prterun"}) // another job
      .add({.pid = 21, .parent = 20, .name = "ssh", .command = daemon_on("n7", 2, "other-20@0")})
      .add({.pid = 30, .name = "ssh", .command = daemon_on("n8", 2)}); // of no launcher
  DaemonNodes daemons(launcher, {});
  const auto found = started(daemons, {}, node);
  EXPECT_THAT(found.targets, UnorderedElementsAre("ssh:n1:1", "ssh:me@n2:1"));
  EXPECT_THAT(found.faults, IsEmpty());
  EXPECT_TRUE(daemons.all_are_known());
  EXPECT_TRUE(daemons.start("prterun-vm-10@2"));
  EXPECT_FALSE(daemons.start("prterun-vm-101@2"));
  EXPECT_FALSE(daemons.start("other-20@1"));
}

TEST(DaemonNodes, OfATreeAreStartedByDaemons) {
  FakeNode first, second;
  first.add({.pid = 10, .name = "prterun"})
      .add({.pid = 11, .parent = 10, .name = "ssh", .command = daemon_on("n1", 3)});
  second.add({.pid = 5, .name = "prted"})
      .add({.pid = 6, .parent = 5, .name = "ssh", .command = daemon_on("n2", 3)})
      .add({.pid = 7, .parent = 5, .name = "ssh", .command = daemon_on("n9", 3, "other-3@0")});
  DaemonNodes daemons(launcher, {});
  EXPECT_THAT(started(daemons, {}, first).targets, ElementsAre("ssh:n1:1"));
  EXPECT_FALSE(daemons.all_are_known());
  EXPECT_THAT(started(daemons, {Launcher::ssh, "n1", {}}, second).targets, ElementsAre("ssh:n2:1"));
  EXPECT_TRUE(daemons.all_are_known());
}

TEST(DaemonNodes, OfSrunAreThoseOfItsJob) {
  auto command = daemon_on("", 3);
  command.erase(command.begin(), command.begin() + 4);
  command.insert(command.begin(), {"srun", "--nodelist=n1,n2", "prted"});
  FakeNode node;
  node.add({.pid = 10, .name = "prterun"})
      .add({.pid = 11,
            .parent = 10,
            .name = "srun",
            .environment = {"SLURM_JOB_ID=77", "SLURM_PROCID=0"},
            .command = command})
      .add({.pid = 12, .parent = 11, .name = "srun", .command = command}); // its other half
  DaemonNodes daemons(launcher, {});
  EXPECT_THAT(started(daemons, {}, node).targets, ElementsAre("srun:77:n1:1", "srun:77:n2:1"));
  DaemonNodes by_ssh(launcher, Launcher::ssh);
  EXPECT_THAT(started(by_ssh, {}, node).targets, ElementsAre("ssh:n1:1", "ssh:n2:1"));
}

/// As the launcher writes it where there is a daemon on each node of the allocation.
TEST(DaemonNodes, OfSrunWithoutAListAreOnAllNodesOfItsJob) {
  auto command = daemon_on("", 3);
  command.erase(command.begin(), command.begin() + 4);
  command.insert(command.begin(), {"srun", "--ntasks-per-node=1", "--ntasks=2", "prted"});
  FakeNode node;
  node.add({.pid = 10, .name = "prterun"})
      .add({.pid = 11,
            .parent = 10,
            .name = "srun",
            .environment = {"SLURM_JOB_ID=77"},
            .command = command});
  const auto words = [&] {
    DaemonNodes daemons(launcher, {});
    auto found = started(daemons, {}, node);
    for (const FindTrouble& fault : found.faults)
      found.targets.emplace_back(fault.error.code);
    return found.targets;
  };
  {
    const SlurmThatSays slurm("mqbridge|77|77|n[1-2]|RUNNING\n", "n1\nn2\n");
    EXPECT_THAT(words(), ElementsAre("srun:77:n1:1", "srun:77:n2:1"));
  }
  const SlurmThatSays broken("slurm_load_jobs error: nobody answers\n", "", 1);
  EXPECT_THAT(words(), ElementsAre("slurm.query"));
}

TEST(DaemonNodes, ThatAreNotNamedAreMissed) {
  auto by_other_agent = daemon_on("n1", 2);
  by_other_agent.front() = "qrsh";
  FakeNode node;
  node.add({.pid = 10, .name = "prterun"})
      .add({.pid = 11, .parent = 10, .name = "qrsh", .command = by_other_agent});
  DaemonNodes daemons(launcher, {});
  EXPECT_THAT(started(daemons, {}, node).targets, IsEmpty());
  EXPECT_FALSE(daemons.empty());
  EXPECT_FALSE(daemons.all_are_known());
}

TEST(DaemonNodes, WithNamesThatAreOptionsOrNoNamesAreNotUsed) {
  FakeNode node;
  node.add({.pid = 10, .name = "prterun"})
      .add({.pid = 11, .parent = 10, .name = "ssh", .command = daemon_on("n1;reboot", 3)});
  DaemonNodes daemons(launcher, {});
  const auto found = started(daemons, {}, node);
  EXPECT_THAT(found.targets, IsEmpty());
  ASSERT_THAT(found.faults, SizeIs(1));
  EXPECT_EQ(found.faults.front().error.code, "node.name");
}

TEST(DaemonNodes, AreNoneWhereNothingSaysSo) {
  FakeNode node;
  node.add({.pid = 10, .name = "prterun"})
      .add({.pid = 11, .parent = 10, .name = "ssh", .command = {"ssh", "n1", "prted"}})
      .add({.pid = 12, .parent = 10, .name = "ssh", .command = daemon_on("n1", 3, "no name")});
  DaemonNodes daemons(launcher, {});
  EXPECT_THAT(started(daemons, {}, node).targets, IsEmpty());
  EXPECT_TRUE(daemons.empty());
}

} // namespace
} // namespace mqbridge::test
