#include "host/doctor/examine_job.h"
#include "host/report/text_report.h"
#include "tests/document/sample_dump.h"
#include "tests/support/closed_port.h"
#include "tests/support/scripted_stub.h"

#include <chrono>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace mqbridge::test {
namespace {

using Level = Check::Level;

/// One rank of `node`, as examine() would see it; times and numbers are each node's own.
NodeChecklist healthy(int number) {
  const auto node = fmt::format("n{:03}", number);
  Checklist list;
  list.endpoint = fmt::format("ssh:{}:{}", node, 4000 + number);
  list.queues_readable = true;
  list.cost = DumpCost{100, 40};
  list.checks = {
      {Level::ok, "reach", fmt::format("round trip 0.{} ms", number % 10), {}},
      {Level::ok, "MPI", fmt::format("Open MPI 4.1.4, initialized, rank {} of 512", number), {}},
      {Level::limit, "unexpected", "never provided", {}},
      {Level::plan, "dump", fmt::format("about 0.{} s", number % 10), {}}};
  return {{node}, 32, list};
}

NodeChecklist denied(int number) {
  const auto node = fmt::format("n{:03}", number);
  Checklist list;
  list.endpoint = fmt::format("ssh:{}:{}", node, 4000 + number);
  list.checks = {{Level::fault, "reach", node + ": Permission denied", {"ssh-copy-id " + node}}};
  return {{node}, 32, list};
}

TEST(FoldNodes, SayTheSameWhateverTheirNamesAndTimes) {
  std::vector<NodeChecklist> nodes;
  for (int i = 17; i < 33; ++i)
    nodes.push_back(healthy(i));
  nodes[3].list.endpoint = "ssh:n020:4"; // as one in a container: a 4 is in its MPI's version, too
  nodes[4].list.checks.push_back({Level::ok, "others", "nothing speaks against it", {}});
  nodes.push_back(denied(40));
  nodes.push_back(denied(41));
  nodes.push_back(healthy(50));
  nodes.back().list.checks[1].text = "Open MPI 4.1.5, initialized, rank 50 of 512";
  const auto groups = fold_nodes(nodes);
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].nodes.size(), 16U);
  EXPECT_EQ(groups[0].ranks, 512U);
  EXPECT_EQ(groups[0].list.endpoint, "ssh:n017:4017");
  EXPECT_EQ(groups[1].nodes, (std::vector<std::string>{"n040", "n041"}));
  EXPECT_EQ(groups[2].nodes, (std::vector<std::string>{"n050"})) << "another version";
}

TEST(FoldNodes, NameANodeOfSeveralStubsOnce) {
  const auto groups = fold_nodes({denied(40), denied(40), denied(41)});
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].nodes, (std::vector<std::string>{"n040", "n041"}));
  EXPECT_EQ(groups[0].ranks, 96U);
}

TEST(LookAtOthers, PraisesNoneThatCouldNotBeAsked) {
  const std::vector targets{TargetSpec::parse("ssh:n1:4711").value(),
                            TargetSpec::parse("ssh:n1:4712").value()};
  const std::vector<const TargetSpec*> others{&targets[0], &targets[1]};
  int asked = 0;
  const auto dead = [&](std::string_view) -> Result<std::string> {
    ++asked;
    return fail("node.login", "no login");
  };
  const auto checks = look_at_others(others, dead, {});
  ASSERT_EQ(checks.size(), 1U);
  EXPECT_EQ(checks[0].level, Level::limit);
  EXPECT_EQ(checks[0].text,
            "2 others there were not looked at: the /proc of a gdbserver there cannot be read");
  EXPECT_EQ(asked, 1) << "a login that failed is not tried for each";
  const auto alive = [](std::string_view path) -> Result<std::string> {
    if (path == "/proc/4712/status")
      return fail("file.read", "no such file");
    return std::string("Name:\tx\nState:\tS\nTracerPid:\t0\nUid:\t7\t7\t7\t7\n");
  };
  const auto gone = look_at_others(others, alive, {});
  ASSERT_EQ(gone.size(), 1U);
  EXPECT_EQ(gone[0].level, Level::fault);
  const auto good = look_at_others(std::span(others).first(1), alive, {});
  ASSERT_EQ(good.size(), 1U);
  EXPECT_EQ(good[0].level, Level::ok);
}

TEST(ExamineJob, LooksAtEveryStubOfAHost) {
  DumpOptions options;
  options.program_directory = MQBRIDGE_PROGRAM_DIRECTORY;
  options.silence_timeout = std::chrono::milliseconds(300);
  const auto workshop = Workshop::open(options).value();
  const ClosedPort dead;
  ScriptedStub silent;
  silent.on("qSupported", Answer::nothing());
  const std::vector targets{TargetSpec{std::nullopt, silent.endpoint()},
                            TargetSpec::parse(dead.endpoint()).value()};
  const auto job = examine_job(targets, *workshop, {});
  EXPECT_EQ(job.groups.size(), 2U) << "the second has a fault of its own";
  EXPECT_EQ(job.nodes, 1U);
}

TEST(DoctorText, OfAJobNamesEqualNodesOnce) {
  std::vector<NodeChecklist> nodes;
  for (int i = 17; i < 33; ++i)
    nodes.push_back(healthy(i));
  nodes.push_back(denied(40));
  JobChecklist job{.ranks = 544, .nodes = 17, .groups = fold_nodes(nodes)};
  job.cost = DumpCost{3100, 40};
  job.troubles = {{"rank.no_mpi", RankError::Level::warning, "n041: no MPI", "name them"}};
  EXPECT_EQ(
      written([&](const Sink& sink) { write_text(job, TextOptions(), sink); }),
      R"(mqbridge doctor   544 ranks on 17 nodes   1 node with FAULTS, queues readable on 16 of 17 nodes
LIMIT  find       rank.no_mpi: n041: no MPI
       fix        name them

n[017-032]   16 nodes, 512 ranks                  1 LIMIT: queues readable
as seen in ssh:n017:4017
ok     reach      round trip 0.7 ms
ok     MPI        Open MPI 4.1.4, initialized, rank 17 of 512
LIMIT  unexpected never provided

n040   1 node, 32 ranks                           1 FAULT: queues not readable yet
as seen in ssh:n040:4040
FAULT  reach      n040: Permission denied
       fix        ssh-copy-id n040

plan   dump       about 3.1 s for all that can be dumped, each held about 40 ms
)");
}

} // namespace
} // namespace mqbridge::test
