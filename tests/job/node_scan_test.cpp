// Ranks among the processes of a node, by what stands in /proc.

#include "host/job/node_scan.h"
#include "tests/job/fake_node.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

namespace mqbridge::test {
namespace {

using State = rsp::FileText::State;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

const std::string openmpi = "/usr/lib/libopen-pal.so.40.30.2";
const std::string mpich = "/usr/lib/libmpich.so.12.2.2";
const std::string any_mpi = "/opt/mpi/lib/libmpi.so.12";

NodeScan scan(FakeNode& node, const std::string& name = "") {
  auto found = scan_node(node, name);
  EXPECT_TRUE(found) << found.error().message;
  return found ? std::move(*found) : NodeScan();
}

std::vector<std::string> openmpi_environment(int rank, const std::string& name_space = "17.1") {
  return {"PATH=/bin", fmt::format("OMPI_COMM_WORLD_RANK={}", rank), "OMPI_COMM_WORLD_SIZE=4",
          "PMIX_NAMESPACE=" + name_space};
}

std::vector<std::string> hydra_environment(int rank) {
  return {fmt::format("PMI_RANK={}", rank), "PMI_SIZE=2", "PMI_FD=6"};
}

/// "JOB RANK PID" of each.
std::vector<std::string> ranks_of(const NodeScan& scan) {
  std::vector<std::string> ranks;
  for (const auto& rank : scan.ranks)
    ranks.push_back(
        fmt::format("{} {} {}", rank.job, rank.environment.rank.value_or(-1), rank.pid));
  return ranks;
}

std::vector<std::string> codes_of(const std::vector<FindTrouble>& troubles) {
  std::vector<std::string> codes;
  for (const auto& trouble : troubles)
    codes.push_back(fmt::format("{} {}", trouble.error.code, trouble.processes));
  return codes;
}

TEST(NodeScan, ARankSaysSoAndHasAnMpiMapped) {
  FakeNode node;
  node.add({.pid = 10, .name = "mpirun", .libraries = {openmpi}})
      .add({.pid = 11, .parent = 10, .environment = openmpi_environment(0), .libraries = {openmpi}})
      .add({.pid = 12, .parent = 10, .environment = openmpi_environment(1), .libraries = {openmpi}})
      .add({.pid = 13, .libraries = {openmpi}})                            // says no rank
      .add({.pid = 14, .environment = {"MY_PMI_RANK=3", "XPMIX_RANK=1"}}); // neither does this
  const auto found = scan(node);
  EXPECT_THAT(ranks_of(found), ElementsAre("17.1 0 11", "17.1 1 12"));
  ASSERT_THAT(found.ranks, SizeIs(2));
  const auto& rank = found.ranks.front();
  EXPECT_EQ(rank.mpi, "Open MPI");
  EXPECT_EQ(rank.executable, "/home/me/solver");
  EXPECT_EQ(rank.user, "me");
  EXPECT_EQ(rank.environment.size, 4);
  ASSERT_THAT(rank.launchers, SizeIs(1));
  EXPECT_EQ(rank.launchers.front().pid, 10);
  EXPECT_THAT(found.warnings, IsEmpty());
  EXPECT_THAT(found.faults, IsEmpty());
}

TEST(NodeScan, AnMpiIsNamedWhereItsLibrariesAreItsOwn) {
  FakeNode node;
  for (const auto& [pid, library] :
       {std::pair(1, openmpi), std::pair(2, mpich), std::pair(3, any_mpi + " (deleted)")})
    node.add({.pid = pid, .environment = openmpi_environment(pid), .libraries = {library}});
  const auto found = scan(node);
  ASSERT_THAT(found.ranks, SizeIs(3));
  EXPECT_EQ(found.ranks[0].mpi, "Open MPI");
  EXPECT_EQ(found.ranks[1].mpi, "MPICH");
  EXPECT_EQ(found.ranks[2].mpi, "libmpi.so.12"); // MPICH's, Intel's or another's
}

TEST(NodeScan, OfAProcessAndThoseItForkedTheFirstIsTheRank) {
  FakeNode node;
  node.add({.pid = 10, .name = "mpirun"})
      .add({.pid = 40, .parent = 10, .name = "bash", .environment = openmpi_environment(0)})
      .add({.pid = 30, .parent = 40, .environment = openmpi_environment(0), .libraries = {mpich}})
      .add({.pid = 20, .parent = 30, .environment = openmpi_environment(0), .libraries = {mpich}})
      .add({.pid = 50, .parent = 20, .environment = openmpi_environment(0), .libraries = {mpich}});
  const auto found = scan(node);
  EXPECT_THAT(ranks_of(found), ElementsAre("17.1 0 30"));
  EXPECT_THAT(found.unmapped, IsEmpty()); // the script's rank was found
}

TEST(NodeScan, TwoThatSayTheSameRankAreSaidAndTheEarlierOneIsTaken) {
  FakeNode node;
  node.add({.pid = 11, .environment = openmpi_environment(3), .libraries = {mpich}, .started = 9})
      .add({.pid = 12, .environment = openmpi_environment(3), .libraries = {mpich}, .started = 8});
  const auto found = scan(node);
  EXPECT_THAT(ranks_of(found), ElementsAre("17.1 3 12"));
  EXPECT_THAT(codes_of(found.warnings), ElementsAre("rank.twice 2"));
  EXPECT_THAT(found.warnings.front().error.message, HasSubstr("(12, 11, ...)"));
}

TEST(NodeScan, RanksWithoutAnMpiAreCounted) {
  FakeNode node;
  node.add({.pid = 11, .environment = openmpi_environment(0)})
      .add({.pid = 12, .environment = openmpi_environment(1)})
      // Slurm says so of everything in a step: it makes a shell no rank.
      .add({.pid = 13, .name = "bash", .environment = {"SLURM_PROCID=0", "SLURM_JOB_ID=4"}});
  const auto found = scan(node);
  EXPECT_THAT(found.ranks, IsEmpty());
  EXPECT_THAT(found.unmapped, SizeIs(2));
}

TEST(NodeScan, LaunchersAreNoRanksWhateverTheyInherit) {
  FakeNode node;
  for (const std::string name : {"mpirun", "orted", "hydra_pmi_proxy", "prterun", "slurmstepd"})
    node.add({.pid = 100 + static_cast<std::int64_t>(name.size()),
              .name = name,
              .environment = {"SLURM_PROCID=0", "PMI_RANK=0"},
              .libraries = {openmpi}});
  const auto found = scan(node);
  EXPECT_THAT(found.ranks, IsEmpty());
  EXPECT_THAT(found.launchers, SizeIs(5));
}

TEST(NodeScan, JobsOfHydraAreToldApartByItsControlPort) {
  FakeNode node;
  for (const std::int64_t proxy : {20, 30, 40})
    node.add({.pid = proxy,
              .name = "hydra_pmi_proxy",
              .command = {"/usr/bin/hydra_pmi_proxy", "--control-port",
                          proxy == 40 ? "n1:4030" : fmt::format("n1:40{}", proxy), "--pgid",
                          proxy == 40 ? "1" : "0"}})
        .add({.pid = proxy + 1,
              .parent = proxy,
              .environment = hydra_environment(0),
              .libraries = {mpich}});
  EXPECT_THAT(ranks_of(scan(node)),
              ElementsAre("hydra-n1:4020.0 0 21", "hydra-n1:4030.0 0 31", "hydra-n1:4030.1 0 41"));
}

TEST(NodeScan, TwoHydraJobsInOneSlurmAllocationAreToldApart) {
  FakeNode node;
  for (const std::int64_t proxy : {20, 30}) {
    auto environment = hydra_environment(0);
    environment.push_back("SLURM_JOB_ID=77");
    node.add({.pid = proxy,
              .name = "hydra_pmi_proxy",
              .command = {"hydra_pmi_proxy", "--control-port", fmt::format("n1:40{}", proxy)}})
        .add({.pid = proxy + 1, .parent = proxy, .environment = environment, .libraries = {mpich}});
  }
  EXPECT_THAT(ranks_of(scan(node)), ElementsAre("hydra-n1:4020.0 0 21", "hydra-n1:4030.0 0 31"));
}

TEST(NodeScan, WithoutAnyNameAJobIsItsLaunchersOnThatNode) {
  FakeNode node;
  node.add({.pid = 9, .name = "mpiexec"})
      .add({.pid = 21, .parent = 9, .environment = {"PMI_RANK=0"}, .libraries = {any_mpi}})
      .add({.pid = 10, .name = "my_starter"})
      .add({.pid = 31, .parent = 10, .environment = {"PMI_RANK=0"}, .libraries = {any_mpi}});
  EXPECT_THAT(ranks_of(scan(node)), ElementsAre("mpiexec-9 0 21", "my_starter-10 0 31"));
  EXPECT_THAT(ranks_of(scan(node, "n7")),
              ElementsAre("mpiexec-9@n7 0 21", "my_starter-10@n7 0 31"));
}

TEST(NodeScan, WhatMayNotBeReadIsCounted) {
  FakeNode node;
  for (std::int64_t pid = 1; pid <= 5; ++pid) {
    node.add({.pid = pid, .user = pid <= 3 ? "root" : "you"}); // 1 is init
    node.answer(pid, "environ", {State::denied, "", false});
  }
  node.add({.pid = 7, .environment = openmpi_environment(0), .libraries = {openmpi}});
  node.answer(7, "maps", {State::denied, "", false});
  node.add({.pid = 8});
  node.answer(8, "environ", {State::failed, "", false});
  const auto found = scan(node, "n7");
  EXPECT_THAT(codes_of(found.warnings), ElementsAre("node.denied 4"));
  EXPECT_THAT(found.warnings.front().error.message, HasSubstr("(of root, you)"));
  EXPECT_EQ(found.warnings.front().node, "n7");
  EXPECT_THAT(codes_of(found.faults), ElementsAre("rank.maps_unreadable 1", "node.unreadable 1"));
}

TEST(NodeScan, ProcessesThatEndMeanwhileAreNoFaults) {
  FakeNode node;
  node.add_ended(11);
  node.add({.pid = 12, .environment = openmpi_environment(0), .libraries = {openmpi}});
  node.answer(12, "maps", {State::missing, "", false}); // ended between two looks
  node.add({.pid = 13, .environment = openmpi_environment(1), .libraries = {openmpi}});
  node.answer(13, "environ", {State::missing, "", false});
  node.add({.pid = 14, .environment = openmpi_environment(2), .libraries = {openmpi}});
  node.answer(14, "maps", {State::read, "", true}); // a zombie by now
  node.add({.pid = 15, .state = 'Z'});
  node.answer(15, "environ", {State::denied, "", false}); // to root, too
  const auto found = scan(node);
  EXPECT_THAT(found.ranks, IsEmpty());
  EXPECT_THAT(found.faults, IsEmpty());
  EXPECT_THAT(found.warnings, IsEmpty());
}

TEST(NodeScan, AnEnvironmentThatIsTooLongIsSaidWhereNoRankStandsInItsStart) {
  FakeNode node;
  for (const std::int64_t pid : {11, 12})
    node.add({.pid = pid, .libraries = {openmpi}});
  node.answer(11, "environ", {State::read, std::string("A=1\0PMI_RANK=1\0B=tor", 20), false});
  node.answer(12, "environ", {State::read, std::string("A=1\0B=1\0PMI_RANK=1", 18), false}); // cut
  const auto found = scan(node);
  EXPECT_THAT(found.ranks, SizeIs(1));
  EXPECT_THAT(codes_of(found.warnings), ElementsAre("node.long_environment 1"));
  EXPECT_LE(node.most_bytes_asked, std::size_t{1} << 20);
}

TEST(NodeScan, AListThatGoesInACircleEnds) {
  FakeNode node;
  node.add({.pid = 11, .parent = 12, .environment = {"PMI_RANK=0"}, .libraries = {any_mpi}})
      .add({.pid = 12, .parent = 11, .environment = {"PMI_RANK=0"}, .libraries = {any_mpi}});
  EXPECT_THAT(scan(node).ranks, Not(IsEmpty()));
}

TEST(NodeScan, StatLinesOfAnyKindAreSurvived) {
  FakeNode node;
  int pid = 20;
  for (const std::string stat : {"", "20 (a", "20 ) ( S", "20 (a) S", "20 (a) S 1 1 1 0 -1 x",
                                 "20 (a) b) S 99999999999999999999 1 1"}) {
    node.add({.pid = ++pid, .environment = openmpi_environment(0)});
    node.answer(pid, "stat", {State::read, stat, true});
  }
  node.add({.pid = 60,
            .name = "a) S 1 (b",
            .environment = openmpi_environment(0),
            .libraries = {openmpi}});
  const auto found = scan(node);
  EXPECT_THAT(ranks_of(found), ElementsAre("17.1 0 60"));
  EXPECT_THAT(codes_of(found.faults), ElementsAre("node.unreadable 6"));
}

TEST(NodeScan, ANodeOfAThousandProcessesTakesFewReads) {
  FakeNode node;
  for (std::int64_t pid = 1; pid <= 1000; ++pid)
    node.add({.pid = pid,
              .environment = openmpi_environment(static_cast<int>(pid)),
              .libraries = {openmpi}});
  EXPECT_THAT(scan(node).ranks, SizeIs(1000));
  EXPECT_LE(node.calls, 2U);
}

TEST(NodeScan, OwnLaunchersAreNoDoubt) {
  FakeNode node;
  node.add({.pid = ::getpid(), .name = "mqbridge"})
      .add({.pid = 1 << 30, .parent = ::getpid(), .name = "srun"});
  EXPECT_THAT(codes_of(scan(node).warnings), IsEmpty());
}

TEST(NodeScan, ALauncherWhoseRanksAreElsewhereIsSaid) {
  FakeNode node;
  node.add({.pid = 10, .name = "srun"})
      .add({.pid = 11, .parent = 10, .name = "srun"}) // its other half
      .add({.pid = 20, .name = "mpirun"})
      .add({.pid = 21, .parent = 20, .name = "ssh"})
      .add({.pid = 30, .name = "mpirun"})
      .add({.pid = 31, .parent = 30, .environment = openmpi_environment(0), .libraries = {openmpi}})
      .add({.pid = 40, .name = "srun", .user = "you"});
  node.answer(40, "environ", {State::denied, "", false}); // nor could we look into it
  const auto found = scan(node);
  EXPECT_THAT(codes_of(found.warnings),
              ElementsAre("node.denied 1", "launcher.no_ranks 1", "launcher.no_ranks 1"));
  EXPECT_THAT(found.warnings[1].error.message, HasSubstr("srun 10 runs"));
  EXPECT_THAT(found.warnings[2].error.hint, HasSubstr("--mpirun 20"));
}

TEST(NodeScan, NothingOfAnEnvironmentIsKeptButWhatALauncherWrote) {
  FakeNode node;
  auto environment = openmpi_environment(0);
  environment.push_back("API_TOKEN=secret");
  environment.push_back("PMIX_SECURITY_TOKEN=secret");
  node.add({.pid = 11, .environment = environment, .libraries = {openmpi}})
      .add({.pid = 12, .environment = {"PMI_RANK=secret", "API_TOKEN=secret"}});
  const auto found = scan(node);
  ASSERT_THAT(found.ranks, SizeIs(1));
  const auto& rank = found.ranks.front();
  const auto& kept = rank.environment;
  for (const auto& text :
       {rank.job, rank.executable, rank.mpi, rank.user, kept.job.value_or(""),
        kept.slurm_job.value_or(""), kept.slurm_step.value_or(""), kept.slurm_node.value_or("")})
    EXPECT_THAT(text, Not(HasSubstr("secret")));
  EXPECT_THAT(found.warnings, IsEmpty());
}

TEST(NodeScan, TheErrorOfALostNodeIsPassedOn) {
  FakeNode node;
  node.fail_with({"stub.closed", "gone"});
  const auto found = scan_node(node, "n7");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, "stub.closed");
}

} // namespace
} // namespace mqbridge::test
