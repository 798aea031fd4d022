// The sandbox as a user meets it: nothing is said of it where it works; where the system has none,
// an error names the option that does without, and a dump made so says that it was.

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"

#include <gmock/gmock.h>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class SandboxTest : public testing::Test {
protected:
  DumpOutcome dump_without(const std::string& what, std::vector<std::string> options) {
    const std::string mqbridge = mqbridge_command({}).argv.front();
    std::vector<std::string> arguments = {mqbridge, "dump", "--format", "json",
                                          local_target(victim_.pid())};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.begin(), {MQBRIDGE_WITHOUT, what});
    DumpOutcome outcome{run_program({arguments}), json()};
    outcome.document = json::parse(outcome.out, nullptr, false);
    return outcome;
  }

  void TearDown() override {
    EXPECT_TRUE(makes_progress(victim_.directory(), 2s)) << "it does not run on";
    EXPECT_EQ(victim_.finish(), "");
  }

  SingleProcess victim_{"mpi_victim"};
};

TEST_F(SandboxTest, AKernelWithoutPidfdsIsEnough) {
  const auto dumped = dump_without("pidfds", {});
  EXPECT_EQ(dumped.status(), 0) << dumped.err;
  EXPECT_EQ(dumped.document["ranks"][0]["status"], "ok") << dumped.out;
  const auto failed = run_program({{MQBRIDGE_WITHOUT, "pidfds", mqbridge_command({}).argv.front(),
                                    "dump", "exec:sh -c 'echo no such thing >&2; exit 7'"}});
  EXPECT_THAT(failed.out + failed.err, HasSubstr("no such thing")) << "its end is seen";
}

/// What reads a carrier's DWARF is confined, too.
TEST(SandboxOfTypes, WhereItCannotBeItIsSaidAndMayBeLeftOut) {
  const test::TempDirectory directory;
  const std::string mqbridge = mqbridge_command({}).argv.front();
  const std::string carrier = (directory / "ompi.types.so").string();
  ASSERT_EQ(run_mqbridge({"types", "make", "--mpi", "openmpi", "-o", carrier}).status(), 0);
  const std::string pack = (directory / "ompi.types").string();
  const std::vector<std::vector<std::string>> commands = {
      {"types", "show", carrier},
      {"types", "check", carrier},
      {"types", "make", "--mpi", "openmpi", "-o", pack}};
  for (const auto& command : commands) {
    // A cache of its own for each: what `types make` has looked at would need no reading.
    const std::string cache = "XDG_CACHE_HOME=" + (directory / ("cache-of-" + command[1])).string();
    std::vector<std::string> arguments = {"env", cache, MQBRIDGE_WITHOUT, "seccomp", mqbridge};
    arguments.insert(arguments.end(), command.begin(), command.end());
    const auto refused = run_program({arguments});
    EXPECT_EQ(refused.status(), 1) << testing::PrintToString(refused);
    EXPECT_THAT(refused.err, AllOf(HasSubstr("sandbox.unavailable"), HasSubstr("--no-sandbox")));
    arguments.emplace_back("--no-sandbox");
    const auto done = run_program({arguments});
    EXPECT_EQ(done.status(), 0) << testing::PrintToString(done);
  }
}

TEST_F(SandboxTest, IsNothingToTellOfWhereItWorks) {
  const auto outcome = dump_json({local_target(victim_.pid())});
  EXPECT_EQ(outcome.status(), 0) << testing::PrintToString(outcome);
  const json& rank = outcome.document["ranks"][0];
  EXPECT_TRUE(find_error(rank, "sandbox.off").is_null());
  EXPECT_FALSE(rank["communicators"].empty());
}

TEST_F(SandboxTest, IsAnErrorThatNamesTheOptionWhereTheSystemHasNone) {
  const auto outcome = dump_without("seccomp", {});
  EXPECT_EQ(outcome.status(), 3) << testing::PrintToString(outcome);
  const json error = find_error(outcome.document["ranks"][0], "sandbox.unavailable");
  ASSERT_FALSE(error.is_null()) << outcome.out;
  EXPECT_EQ(error["level"], "error");
  EXPECT_THAT(error["message"].get<std::string>(),
              AllOf(HasSubstr("libompi_dbg_msgq.so"), HasSubstr("cannot filter")));
  EXPECT_THAT(error["hint"].get<std::string>(), HasSubstr("--no-sandbox"));
}

TEST_F(SandboxTest, IsDoneWithoutWhereTheUserSaysSoAndTheDumpSaysItToo) {
  const auto outcome = dump_without("seccomp", {"--no-sandbox"});
  EXPECT_EQ(outcome.status(), 0) << testing::PrintToString(outcome);
  const json& rank = outcome.document["ranks"][0];
  EXPECT_EQ(rank["status"], "ok");
  EXPECT_FALSE(rank["communicators"].empty());
  const json warning = find_error(rank, "sandbox.off");
  ASSERT_FALSE(warning.is_null()) << outcome.out;
  EXPECT_EQ(warning["level"], "warning");
  EXPECT_THAT(warning["message"].get<std::string>(), HasSubstr("--no-sandbox"));
}

TEST_F(SandboxTest, OfAKernelWithoutLandlockIsAWarning) {
  const auto outcome = dump_without("landlock", {});
  EXPECT_EQ(outcome.status(), 0) << testing::PrintToString(outcome);
  const json& rank = outcome.document["ranks"][0];
  EXPECT_EQ(rank["status"], "ok");
  const json warning = find_error(rank, "sandbox.partial");
  ASSERT_FALSE(warning.is_null()) << outcome.out;
  EXPECT_EQ(warning["level"], "warning");
  EXPECT_THAT(warning["message"].get<std::string>(),
              AllOf(HasSubstr("libompi_dbg_msgq.so"), HasSubstr("without Landlock"),
                    HasSubstr("Function not implemented")));
}

/// The exit status of a worker is there though whoever started mqbridge did not want its own's.
TEST_F(SandboxTest, NamesAForbiddenCallWhereSigchldWasIgnored) {
  const std::string dll = MQBRIDGE_TEST_DLLS "/CONNECTS_LATER.so";
  const auto outcome = dump_without("children", {"--dll", dll});
  EXPECT_EQ(outcome.status(), 1) << testing::PrintToString(outcome);
  const json error = find_error(outcome.document["ranks"][0], "dll.forbidden");
  ASSERT_FALSE(error.is_null()) << outcome.out;
  EXPECT_THAT(error["message"].get<std::string>(), HasSubstr("(socket)"));
}

} // namespace
} // namespace mqbridge::e2e
