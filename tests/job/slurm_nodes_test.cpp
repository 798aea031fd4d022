// What Slurm's programs say, as it is, and as a liar would have it.

#include "host/job/slurm_nodes.h"
#include "tests/job/slurm_that_says.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace mqbridge::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// "LAUNCHER JOB HOST" of each, or the code of the error and its message.
std::vector<std::string> nodes_of(const SlurmStep& step, Launcher launcher = Launcher::srun) {
  const auto found = find_slurm_nodes(step, launcher);
  if (!found)
    return {fmt::format("{}: {}", found.error().code, found.error().message)};
  std::vector<std::string> nodes;
  for (const auto& node : found->nodes)
    nodes.push_back(fmt::format("{} {} {}", name_of(node.launcher), node.slurm_job, node.host));
  return nodes;
}

TEST(SlurmNodes, AreThoseOfAllComponents) {
  const SlurmThatSays slurm("squeue: a warning of some site\n"
                            "mqbridge|77|77+0|n1|RUNNING\nmqbridge|78|77+1|n2|RUNNING\n",
                            "n1\nn2\n");
  EXPECT_THAT(nodes_of({"77", {}}), ElementsAre("srun 77+0 n1", "srun 77+0 n2", "srun 77+1 n1",
                                                "srun 77+1 n2")); // it says so of either list
  const auto found = find_slurm_nodes({"77", {}}, Launcher::ssh);
  ASSERT_TRUE(found);
  EXPECT_THAT(found->numbers, ElementsAre("77", "78"));
  EXPECT_EQ(found->nodes.size(), 2U);
}

TEST(SlurmNodes, OfAnArrayHaveTheNumberOfTheElement) {
  const SlurmThatSays slurm("mqbridge|81|77_3|n1|RUNNING\n", "n1\n");
  EXPECT_THAT(nodes_of({"77_3", {}}), ElementsAre("srun 81 n1"));
}

TEST(SlurmNodes, OfAJobThatDoesNotRunAreAnError) {
  const SlurmThatSays pending("mqbridge|77|77||PENDING\n", "");
  EXPECT_THAT(nodes_of({"77", {}}).front(),
              HasSubstr("slurm.not_running: job 77 is not running: PENDING"));
  const SlurmThatSays ended("", "");
  EXPECT_THAT(nodes_of({"77", {}}).front(), HasSubstr("slurm.not_running: Slurm knows no job 77"));
}

TEST(SlurmNodes, TheErrorOfAProgramIsShownInItsWordsWithoutTerminalCodes) {
  const SlurmThatSays slurm("slurm_load_jobs error: \x1b[31mInvalid job id specified\nmore\n", "",
                            1);
  const auto words = nodes_of({"77", {}}).front();
  EXPECT_THAT(words, HasSubstr("slurm.query: squeue failed (exit 1): slurm_load_jobs error:"));
  EXPECT_THAT(words, Not(HasSubstr("\x1b")));
}

TEST(SlurmNodes, NamesThatCouldBeOptionsOrCommandsAreNotUsed) {
  for (const std::string list :
       {"-oProxyCommand=x", "n1;reboot", "$(reboot)", "n1 n2", "n1\x1b[2J"}) {
    const SlurmThatSays slurm("mqbridge|77|77|" + list + "|RUNNING\n", "n1\n");
    EXPECT_THAT(nodes_of({"77", {}}).front(), HasSubstr("slurm.nodes: ")) << list;
    EXPECT_FALSE(slurm.expanded());
  }
  for (const std::string host : {"-oProxyCommand=x", "n1;reboot", "n1 n2"}) {
    const SlurmThatSays slurm("mqbridge|77|77|n1|RUNNING\n", host + "\n");
    for (const auto launcher : {Launcher::srun, Launcher::ssh})
      EXPECT_THAT(nodes_of({"77", {}}, launcher).front(), HasSubstr("node.name: ")) << host;
  }
}

TEST(SlurmNodes, OfAnArrayThatWaitsAsAWholeAreNotRunning) {
  const SlurmThatSays slurm("mqbridge|77|77_[0-9,12%4]||PENDING\n", "");
  EXPECT_THAT(nodes_of({"77", {}}).front(), HasSubstr("job 77 is not running: PENDING"));
}

/// A part of them would look like all of them.
TEST(SlurmNodes, ThatDoNotAllComeAreAnError) {
  const SlurmThatSays slurm("mqbridge|77|77|n1|RUNNING\n", std::string(17U << 20, 'n') + "\n");
  EXPECT_THAT(nodes_of({"77", {}}).front(), HasSubstr("slurm.query: scontrol says more than"));
}

TEST(SlurmNodes, NamesThatAUserWritesAreNotComparedWithSlurms) {
  LaunchEnvironment environment;
  environment.slurm_node = "n2";
  EXPECT_TRUE(says_node(environment, {Launcher::ssh, "bob@n2", ""}, false));
  EXPECT_TRUE(says_node(environment, {Launcher::ssh, "n2", ""}, true));
  EXPECT_FALSE(says_node(environment, {Launcher::ssh, "n1", ""}, true));
  EXPECT_FALSE(says_node(environment, {Launcher::srun, "n1", "77"}, false));
}

TEST(SlurmSteps, SayWhichSrunHasStartedThem) {
  const auto steps = parse_steps(
      "StepId=5.batch UserId=0 SrunHost:Pid=n1:1\n"
      "StepId=5.0 UserId=0 Name=x SrunHost:Pid=login:4711 SrunHost:Pid=n2:9\n"
      "StepId=7+1.2 SrunHost:Pid=[::1]:12\nStepId=8.0 SrunHost:Pid=n1:1x\nStepId=9.0\n");
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].step.job + "." + *steps[0].step.step, "5.0");
  EXPECT_EQ(steps[0].host, "login");
  EXPECT_EQ(steps[0].srun, 4711);
  EXPECT_EQ(steps[1].step.job, "7");
}

TEST(SlurmNodes, LinesOfOtherKindsAreLeftOut) {
  const auto lines = parse_squeue("mqbridge|77|77|n1\nmqbridge|x|77|n1|RUNNING\n|77|77|n1|RUNNING\n"
                                  "mqbridge|77|77|n1|RUNNING|x\nmqbridge|9|9|n1|RUNNING");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines.front().number, "9");
  std::string endless;
  for (int i = 0; i < 5000; ++i)
    endless += "mqbridge|9|9|n1|RUNNING\n";
  EXPECT_LE(parse_squeue(endless).size(), 1024U);
}

} // namespace
} // namespace mqbridge::test
