#include "host/job/table_job.h"
#include "tests/job/fake_node.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace mqbridge::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

const NodeProcess here{"local:4711", {}, 4711};
const NodeProcess there{"ssh:me@n7:4711", {Launcher::ssh, "me@n7", {}}, 4711};

Proctable table_of(const std::vector<std::pair<std::string, std::int64_t>>& processes) {
  Proctable table;
  for (const auto& [host, pid] : processes)
    table.entries.push_back(
        {static_cast<std::int64_t>(table.entries.size()), host, "/solver", pid});
  table.size = table.entries.size();
  return table;
}

/// "RANK NODE PID" of each.
std::vector<std::string> table_ranks(const FoundJob& job) {
  std::vector<std::string> ranks;
  for (const auto& rank : job.ranks)
    ranks.push_back(
        fmt::format("{} {} {}", rank.target.rank.value_or(-1), rank.node, rank.pid.value_or(-1)));
  return ranks;
}

TEST(TableJob, LocalhostIsTheLaunchersOwnNode) {
  const auto table = table_of({{"localhost", 10}, {"n7", 11}, {"n8", 12}});
  std::vector<FindTrouble> faults;
  EXPECT_THAT(table_ranks(job_of_table(table, {here}, {}, faults)),
              ElementsAre("0  10", "1 n7 11", "2 n8 12"));
  const auto remote = job_of_table(table, {there}, {}, faults);
  EXPECT_THAT(table_ranks(remote), ElementsAre("0 n7 10", "1 n7 11", "2 n8 12"));
  EXPECT_THAT(remote.arguments, ElementsAre("--mpirun", "ssh:me@n7:4711"));
  EXPECT_EQ(remote.name, "mpirun-4711@n7");
  EXPECT_EQ(remote.ranks[1].target.text(), "ssh:me@n7:11"); // by the same login
  EXPECT_THAT(faults, IsEmpty());
}

/// Another computer that has this one's name, or names one that has.
TEST(TableJob, OfAnotherComputerNamesNoProcessOfThisOne) {
  std::vector<FindTrouble> faults;
  const auto job = job_of_table(table_of({{Node{}.name(), 10}}), {there}, {}, faults);
  ASSERT_THAT(job.ranks, SizeIs(1));
  EXPECT_EQ(job.ranks[0].target.text(), "ssh:" + Node{}.name() + ":10");
}

/// The user's own name of a node may be one of the ssh configuration alone.
TEST(TableJob, WhatTheLaunchersNodeCallsItselfIsThatNode) {
  TableNodes nodes{there};
  nodes.own_name = "login3.cluster";
  std::vector<FindTrouble> faults;
  const auto table = table_of({{"login3", 10}, {"login3.cluster", 11}, {"login", 12}});
  const auto job = job_of_table(table, nodes, {}, faults);
  ASSERT_THAT(job.ranks, SizeIs(3));
  EXPECT_EQ(job.ranks[0].target.text(), "ssh:me@n7:10");
  EXPECT_EQ(job.ranks[1].target.text(), "ssh:me@n7:11");
  EXPECT_EQ(job.ranks[2].target.text(), "ssh:login:12");
}

TEST(TableJob, HostNamesThatAreOptionsAreNeverUsed) {
  const auto table = table_of({{"-oProxyCommand=touch /tmp/x", 10},
                               {"n8", 11},
                               {"-oProxyCommand=touch /tmp/x", 12},
                               {"n\x1b[2J", 13},
                               {"", 14}});
  std::vector<FindTrouble> faults;
  const auto job = job_of_table(table, {here}, {}, faults);
  EXPECT_THAT(table_ranks(job), ElementsAre("1 n8 11"));
  EXPECT_EQ(job.size, 5);         // four are missing
  ASSERT_THAT(faults, SizeIs(3)); // each name once
  for (const auto& fault : faults) {
    EXPECT_EQ(fault.error.code, "node.name");
    EXPECT_THAT(fault.node + fault.error.message, Not(HasSubstr("\x1b")));
  }
}

TEST(TableJob, SrunReachesNoNodeWithoutItsJob) {
  std::vector<FindTrouble> faults;
  const auto job = job_of_table(table_of({{"n8", 11}}), {here, Launcher::srun}, {}, faults);
  EXPECT_THAT(job.ranks, IsEmpty());
  ASSERT_THAT(faults, SizeIs(1));
  EXPECT_EQ(faults.front().error.code, "mpirun.no_slurm_job");
}

TEST(TableJob, TheNodesOfSlurmAreReachedThroughTheirComponent) {
  std::vector<FindTrouble> faults;
  const TableNodes nodes{
      here, Launcher::ssh, {{Launcher::srun, "n7", "5+0"}, {Launcher::srun, "n8", "5+1"}}};
  const auto job = job_of_table(table_of({{"n8", 11}}), nodes, {}, faults);
  ASSERT_THAT(job.ranks, SizeIs(1));
  EXPECT_EQ(job.ranks.front().target.text(), "srun:5+1:n8:11");
}

TEST(TableJob, TheRankOfAScriptIsItsChild) {
  FakeNode node;
  node.add({.pid = 4711, .name = "mpirun"})
      .add({.pid = 10, .parent = 4711, .name = "bash", .environment = {"PMIX_RANK=0"}})
      .add({.pid = 30,
            .parent = 10,
            .environment = {"PMIX_RANK=0", "PMIX_NAMESPACE=17.1"},
            .libraries = {"/lib/libopen-pal.so.40"}})
      .add({.pid = 20,
            .parent = 4711,
            .environment = {"PMIX_RANK=1", "PMIX_NAMESPACE=17.1"},
            .libraries = {"/lib/libopen-pal.so.40"}});
  const auto scan = scan_node(node, "");
  ASSERT_TRUE(scan);
  std::vector<FindTrouble> faults;
  const auto table = table_of({{"localhost", 10}, {"localhost", 20}, {"n8", 30}});
  const auto job = job_of_table(table, {here}, {{Node{}, *scan}}, faults);
  EXPECT_THAT(table_ranks(job), ElementsAre("0  30", "1  20", "2 n8 30"));
  EXPECT_EQ(job.name, "17.1");
  EXPECT_EQ(job.ranks[0].mpi, "Open MPI");
  EXPECT_EQ(job.ranks[2].mpi, ""); // another process 30
}

TEST(TableJob, AScriptIsKnownByItsName) {
  auto table = table_of({{"n7", 10}, {"n8", 11}, {"n7", 12}});
  for (const auto program : {"/bin/bash", "run.sh", "/home/me/start.csh"}) {
    EXPECT_FALSE(has_scripts(table)) << program;
    table.entries[1].executable = program;
    EXPECT_TRUE(has_scripts(table)) << program;
    table.entries[1].executable = "/opt/mesh";
  }
  EXPECT_THAT(nodes_of(table, {here}), SizeIs(2));
}

TEST(TableJob, DaemonsAreNoRanks) {
  auto table = table_of({{"n7", 10}, {"n8", 11}});
  EXPECT_EQ(daemons_in(table), std::nullopt);
  for (auto& entry : table.entries)
    entry.executable = "/usr/bin/hydra_bstrap_proxy";
  EXPECT_EQ(daemons_in(table), "hydra_bstrap_proxy");
  EXPECT_EQ(daemons_in(Proctable()), std::nullopt);
}

} // namespace
} // namespace mqbridge::test
