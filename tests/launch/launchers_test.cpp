#include "host/launch/launchers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mqbridge {
namespace {

using testing::Contains;
using testing::ElementsAre;

const std::vector<std::string>& argv_of(const rsp::Endpoint& endpoint) {
  return std::get<rsp::CommandEndpoint>(endpoint.where).argv;
}

TEST(Launchers, HereAProgramIsStartedAsItIs) {
  Launchers launchers({});
  EXPECT_THAT(argv_of(launchers.server_on({}, "local:7")),
              ElementsAre("gdbserver", "--once", "--multi", "-"));
}

TEST(Launchers, ThereAShellReadsOneLine) {
  Launchers launchers({.launcher_args = {"-p", "2222"}, .gdbserver = "/opt/my tools/gdbserver"});
  const auto argv = argv_of(launchers.server_on({Launcher::ssh, "me@n1", ""}, "ssh:me@n1:7"));
  ASSERT_GE(argv.size(), 6U);
  EXPECT_EQ(argv[0], "ssh");
  EXPECT_EQ(argv[1], "-p") << "the user's options come first: of ssh's the first counts";
  EXPECT_THAT(argv, Contains("BatchMode=yes"));
  const std::vector<std::string> end(argv.end() - 3, argv.end());
  EXPECT_THAT(end, ElementsAre("--", "me@n1", "'/opt/my tools/gdbserver' --once --multi -"));
}

TEST(Launchers, BesideWhatRunsInAnAllocation) {
  Launchers launchers({.launcher_args = {"--partition=x"}});
  const auto argv = launchers.command_on({Launcher::srun, "n1", "12"}, {"prog", "a b"});
  EXPECT_EQ(argv[0], "srun");
  for (const std::string_view option :
       {"--jobid=12", "--nodelist=n1", "--nodes=1", "--ntasks=1", "--overlap", "--partition=x"})
    EXPECT_THAT(argv, Contains(option));
  const std::vector<std::string> end(argv.end() - 3, argv.end());
  EXPECT_THAT(end, ElementsAre("--", "prog", "a b"));
}

TEST(Launchers, AComponentOfAHeterogeneousJobIsAGroupOfItsFirst) {
  Launchers launchers({});
  const auto argv = launchers.command_on({Launcher::srun, "n2", "12+1"}, {"prog"});
  EXPECT_THAT(argv, Contains("--jobid=12"));
  EXPECT_THAT(argv, Contains("--het-group=1"));
}

TEST(Launchers, IntoAContainer) {
  Launchers launchers({});
  const std::vector<std::string> command{"nsenter", "-t", "{pid}", "--root=/proc/{pid}/root"};
  EXPECT_THAT(argv_of(launchers.server_inside({}, "local:7", command, 7)),
              ElementsAre("nsenter", "-t", "7", "--root=/proc/7/root", "gdbserver", "--once",
                          "--multi", "-"));
}

} // namespace
} // namespace mqbridge
