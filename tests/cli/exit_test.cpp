// Exit statuses, streams and signals, with targets that refuse or never say a word.

#include "tests/cli/program.h"

#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace mqbridge::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// Connects at once and never answers.
const std::string silent = "'exec:sleep 60'";

TEST(Exit, ThreeWhenNothingCouldBeDumped) {
  const Ran ran = run("mqbridge dump 127.0.0.1:1");
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.out, HasSubstr("FAILED connect.refused"));
  EXPECT_THAT(ran.out, HasSubstr("exit 3: nothing could be dumped: 1 of 1 rank failed\n"));
  EXPECT_EQ(ran.err, "");
}

TEST(Exit, IsToldOnStderrWhereTheReportIsForPrograms) {
  const Ran ran = run("mqbridge dump --format json 127.0.0.1:1");
  EXPECT_EQ(ran.status, 3);
  EXPECT_EQ(json::parse(ran.out)["ranks"][0]["errors"][0]["code"], "connect.refused");
  EXPECT_EQ(ran.err, "mqbridge: exit 3: nothing could be dumped: 1 of 1 rank failed\n");
}

/// A place among the targets is no rank: it may be the one that was asked for.
TEST(Exit, ATargetOfNoKnownRankIsLeftOutByNoFilter) {
  const Ran ran = run("mqbridge dump --rank 7 127.0.0.1:1");
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.out, HasSubstr("Rank -  FAILED  127.0.0.1:1  connect.refused"));
  EXPECT_EQ(ran.err, "");
}

TEST(Exit, ATargetGivenAsARankThatIsNotWantedIsLeftAlone) {
  const TemporaryFolder folder;
  const auto touched = folder / "touched";
  const Ran ran = run("mqbridge dump --rank 1 '0=exec:touch " + touched.string() + "'");
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.err, HasSubstr("filter.no_rank"));
  EXPECT_FALSE(std::filesystem::exists(touched));
}

TEST(Exit, DoctorTellsAFault) {
  const Ran ran = run("mqbridge doctor 127.0.0.1:1");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("FAULT  reach"));
}

TEST(Exit, FiveWhenTheOutputCannotBeWritten) {
  const char* const cases[] = {"mqbridge dump 127.0.0.1:1 -o /dev/full",
                               "mqbridge dump 127.0.0.1:1 > /dev/full",
                               "mqbridge dump 127.0.0.1:1 >&-",
                               "mqbridge dump 127.0.0.1:1 -o /nowhere/dump",
                               "mqbridge dump 127.0.0.1:1 --trace /nowhere/trace",
                               "mqbridge dump --timeout 0.2 'exec:sleep 60' --trace /dev/full",
                               "mqbridge doctor 127.0.0.1:1 -o /dev/full",
                               "mqbridge --help > /dev/full"};
  for (const char* command : cases) {
    const Ran ran = run(command);
    EXPECT_EQ(ran.status, 5) << command;
    EXPECT_THAT(ran.err, HasSubstr("mqbridge: ")) << command;
    EXPECT_THAT(ran.err, HasSubstr("\nfix: ")) << command;
  }
}

TEST(Exit, AFullStderrChangesNothing) {
  const Ran ran = run("mqbridge dump --format json --progress always 127.0.0.1:1 2>/dev/full");
  EXPECT_EQ(ran.status, 3);
  EXPECT_TRUE(json::accept(ran.out));
  EXPECT_EQ(run("mqbridge doctor 2>/dev/full").status, 2);
}

TEST(Exit, ProgressCountsTargetsThatWereNotReached) {
  const Ran ran = run("mqbridge dump --progress always 127.0.0.1:1 127.0.0.1:2");
  EXPECT_THAT(ran.err, HasSubstr("\n2 of 2 done (2 failed), 0 reached\n"));
}

TEST(Exit, AReaderThatHasGoneIsNoDrama) {
  // The reader leaves before the first word comes.
  const Ran ran = run("{ mqbridge dump 127.0.0.1:1; echo $? >&2; } | true; wait");
  EXPECT_EQ(ran.err, "5\n");
}

TEST(Exit, ClosedStandardStreamsDoNotBecomeConnections) {
  const Ran ran = run("mqbridge dump 127.0.0.1:1 <&- 2>&-");
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.out, HasSubstr("connect.refused"));
}

TEST(Output, IsTheSameInAFile) {
  const TemporaryFolder folder;
  const std::string file = (folder / "dump.txt").string();
  const Ran ran = run("mqbridge dump 127.0.0.1:1 -o '" + file + "'");
  EXPECT_EQ(ran.status, 3);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(read_file(file), run("mqbridge dump 127.0.0.1:1").out);
  EXPECT_THAT(run("mqbridge dump 127.0.0.1:1 -o /dev/stdout").out, HasSubstr("connect.refused"));
  EXPECT_THAT(run("mqbridge dump 127.0.0.1:1 -o -").out, HasSubstr("connect.refused"));
}

TEST(Output, ColoursOnlyWhenAskedOffATerminal) {
  EXPECT_THAT(run("mqbridge dump 127.0.0.1:1").out, testing::Not(HasSubstr("\033")));
  EXPECT_THAT(run("NO_COLOR=1 mqbridge dump --color always 127.0.0.1:1").out, HasSubstr("\033["));
}

TEST(Output, NdjsonHasItsThreeKinds) {
  std::istringstream in(run("mqbridge dump --format ndjson 127.0.0.1:1 127.0.0.1:2").out);
  std::vector<std::string> types;
  for (std::string line; std::getline(in, line);)
    types.push_back(json::parse(line)["type"]);
  EXPECT_THAT(types, testing::ElementsAre("header", "rank", "rank", "summary"));
}

struct Interruption {
  int signal;
  int status;
};

void PrintTo(const Interruption& how, std::ostream* out) {
  *out << "signal " << how.signal;
}

class Interrupted : public testing::TestWithParam<Interruption> {};

TEST_P(Interrupted, ReleasesPrintsAndExits) {
  ShellCommand dump("exec \"$program\" dump --progress always --timeout 60 " + silent);
  ASSERT_TRUE(dump.says("connect")) << "no progress";
  dump.signal(GetParam().signal);
  const Ran ran = dump.finish();
  EXPECT_EQ(ran.status, GetParam().status);
  EXPECT_THAT(ran.out, HasSubstr("interrupted, every target released"));
}

INSTANTIATE_TEST_SUITE_P(Signals, Interrupted,
                         testing::Values(Interruption{SIGINT, 130}, Interruption{SIGTERM, 143}));

TEST(Interrupted, LeavesNoHalfFile) {
  const TemporaryFolder folder;
  const std::string file = (folder / "dump.json").string();
  write_file(file, "old");
  ShellCommand dump("exec \"$program\" dump --progress always --timeout 60 --format json -o '" +
                    file + "' " + silent);
  ASSERT_TRUE(dump.says("connect"));
  dump.signal(SIGINT);
  EXPECT_EQ(dump.finish().status, 130);
  EXPECT_TRUE(json::accept(read_file(file))); // what is there, whole
}

TEST(Progress, IsOffWhereStderrIsNoTerminal) {
  EXPECT_EQ(run("mqbridge dump 127.0.0.1:1").err, "");
  EXPECT_THAT(run("mqbridge dump --progress always 127.0.0.1:1").err,
              HasSubstr("127.0.0.1:1: connect\n"));
}

} // namespace
} // namespace mqbridge::test
