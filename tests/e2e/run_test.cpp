// Real jobs under `mqbridge run`: one that hangs is looked at, named and ended.

#include "tests/e2e/harness/census.h"
#include "tests/e2e/harness/mpirun_command.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/schema.h"
#include "tests/support/child_process.h"
#include "tests/support/eventually.h"
#include "tests/support/temp_directory.h"

#include <csignal>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class RunTest : public testing::Test {
protected:
  /// `mqbridge run OPTIONS -- sh -c SCRIPT`. In it `$ring` is mpirun with the ring that never ends,
  /// and `$alone` a single process of it, which receives from itself.
  Outcome run(const std::vector<std::string>& options, const std::string& script) {
    return run_program(command(options, script));
  }
  test::ChildSpec command(std::vector<std::string> options, const std::string& script) {
    auto spec = mpirun_command({.program = "ring_deadlock", .ranks = 3}, directory_.path());
    std::string ring;
    for (const auto& word : spec.argv)
      ring += word + " ";
    const auto& program = spec.argv[spec.argv.size() - 2];
    options.insert(options.begin(), "run");
    options.insert(options.end(), {"--", "sh", "-c", script});
    auto own = mqbridge_command(options);
    own.environment = spec.environment;
    own.environment.emplace_back("ring", ring);
    own.environment.emplace_back("alone", program + " " + directory_.path().string());
    return own;
  }
  /// In a script: prints until that many ranks are about to receive for ever.
  std::string until_ready(int ranks) const {
    return fmt::format(
        "until [ $(ls {}/ready.* 2>/dev/null | wc -l) = {} ]; do echo not yet; sleep 0.1; done; ",
        directory_.path().string(), ranks);
  }
  json document() const { return json::parse(std::ifstream(file()), nullptr, false); }
  std::string file() const { return (directory_ / "hang.json").string(); }

  test::TempDirectory directory_;
  const Census census_;
};

// Behind a shell, as in a test script.
TEST_F(RunTest, AJobThatHangsIsNamedKeptAndEnded) {
  const auto outcome = run({"--silent", "0.7", "--timeout", "1m", "--twice", "0.5", "--fail-on",
                            "deadlock", "-o", file()},
                           "$ring & " + until_ready(3) + "wait; echo after");
  EXPECT_EQ(outcome.status(), 4) << testing::PrintToString(outcome);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("not yet\n"), Not(HasSubstr("after"))));
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("has printed nothing for 0.7 s"), HasSubstr("VERDICT  DEADLOCK"),
                    HasSubstr("MPI_Recv"), HasSubstr("ended the command"), HasSubstr("exit 4")));
  const auto kept = document();
  EXPECT_EQ(schema_violation(kept), "");
  EXPECT_EQ(kept["ranks"].size(), 3U);
  EXPECT_EQ(kept["earlier"].size(), 1U);
  EXPECT_EQ(kept["analysis"]["verdict"], "deadlock");
  EXPECT_EQ(kept["analysis"]["core"], json::parse("[[0,2,1]]"));
  EXPECT_THAT(census_.left_behind(5s), IsEmpty());
}

TEST_F(RunTest, AProcessWithoutALauncherIsARank) {
  const auto outcome =
      run({"--silent", "0.5", "--twice", "0", "-o", file()}, "$alone & " + until_ready(1) + "wait");
  EXPECT_EQ(outcome.status(), 124) << testing::PrintToString(outcome);
  const auto kept = document();
  ASSERT_EQ(kept["ranks"].size(), 1U) << outcome.err;
  EXPECT_EQ(kept["ranks"][0]["world_size"], 1);
  EXPECT_THAT(census_.left_behind(5s), IsEmpty());
}

TEST_F(RunTest, ACommandThatEndsMeanwhileHasItsOwnStatus) {
  const auto outcome = run({"--silent", "0.5", "--twice", "30", "--fail-on", "deadlock:possible"},
                           "$alone & " + until_ready(1) + "sleep 1.5; kill $!; exit 9");
  EXPECT_EQ(outcome.status(), 9) << testing::PrintToString(outcome);
  EXPECT_THAT(outcome.err, HasSubstr("ended by itself while it was looked at: exit 9"));
  EXPECT_THAT(census_.left_behind(5s), IsEmpty());
}

// Ctrl-C in the middle of a look, between its halves: mpirun says how it ends.
TEST_F(RunTest, InterruptedWhileItLooksHasTheStatusOfTheCommand) {
  test::ChildProcess mqbridge(command({"--timeout", "1", "--twice", "30"}, "exec $ring"));
  ASSERT_TRUE(test::eventually(
      20s, [&] { return mqbridge.err().find("looking at it") != std::string::npos; }));
  mqbridge.signal(SIGINT);
  const auto ending = mqbridge.wait(20s);
  ASSERT_TRUE(ending) << mqbridge.err();
  EXPECT_NE(ending->code.value_or(0), 0) << mqbridge.err();
  EXPECT_NE(ending->code, 124) << mqbridge.err();
  EXPECT_THAT(mqbridge.err(), HasSubstr("ended by itself while it was looked at"));
  EXPECT_THAT(census_.left_behind(5s), IsEmpty());
}

} // namespace
} // namespace mqbridge::e2e
