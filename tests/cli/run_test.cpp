// `mqbridge run` of plain programs: what a shell sees of it. Its child class has tests of its own
// (tests/watch), and MPI jobs are run in tests/e2e.

#include "tests/cli/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mqbridge::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Run, IsNotSeenWhereTheCommandEndsInTime) {
  for (const std::string limits : {"--timeout 1m", "--silent 1m", "--timeout 0"}) {
    const Ran ran = run("echo in | mqbridge run " + limits +
                        " -- sh -c 'read -r word; echo $word out; echo err >&2; exit 3'");
    EXPECT_EQ(ran.status, 3) << limits;
    EXPECT_EQ(ran.out, "in out\n") << limits;
    EXPECT_EQ(ran.err, "err\n") << limits;
  }
  EXPECT_EQ(run("mqbridge run --timeout 1m -- sh -c 'kill -TERM $$'").status, 143);
}

TEST(Run, HasTheStatusesOfTimeoutWhereTheCommandCannotRun) {
  const Ran missing = run("mqbridge run --timeout 1m -- no-such-program-anywhere");
  EXPECT_EQ(missing.status, 127);
  EXPECT_THAT(missing.err, HasSubstr("command.not_found: cannot run no-such-program-anywhere"));
  const Ran directory = run("mqbridge run --timeout 1m -- /tmp");
  EXPECT_EQ(directory.status, 126);
  EXPECT_THAT(directory.err, HasSubstr("command.start: cannot run /tmp"));
}

TEST(Run, ChecksWhereTheDocumentGoesBeforeTheCommandRuns) {
  const Ran ran = run("mqbridge run --timeout 1m -o /nowhere/hang.json -- echo ran");
  EXPECT_EQ(ran.status, 125);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("output.open: /nowhere/hang.json"));
  const TemporaryFolder folder;
  const auto file = folder / "hang.json";
  write_file(file, "old");
  EXPECT_EQ(run("mqbridge run --timeout 1m -o '" + file.string() + "' -- true").status, 0);
  EXPECT_EQ(read_file(file), "old");
}

TEST(Run, OfWhatIsNoMpiJobShowsItsStacksAndEndsIt) {
  const Ran ran = run("mqbridge run --timeout 0.3 -- sh -c 'echo begun; sleep 997; echo after'");
  EXPECT_EQ(ran.status, 124);
  EXPECT_EQ(ran.out, "begun\n");
  EXPECT_THAT(ran.err,
              AllOf(HasSubstr("has not ended after 0.3 s"), HasSubstr("run.no_rank"),
                    HasSubstr("nanosleep"), HasSubstr("ended the command"), HasSubstr("exit 124")));
  EXPECT_EQ(run("ps -e -o args | grep '[s]leep 997'").out, "");
}

struct WrongRun {
  std::string words;
  std::string says;
};

TEST(Run, NamesWhatIsWrong) {
  for (const auto& [words, says] : std::vector<WrongRun>{
           {"", "there is no command behind --"},
           {"--timeout 5", "there is no command behind --"},
           {"--timeout 5 --", "there is no command behind --"},
           {"-- true", "neither --timeout nor --silent"},
           {"--timeout 5 true", "-- must stand before the command, \"true\"\nfix: mqbridge run "
                                "--timeout 10m -- true ..."},
           {"mpirun -np 2 ./solver", "-- must stand before the command, \"mpirun\""},
           {"--timeout 5x -- true", "--timeout 5x: expected a time"},
           {"--timeout -1 -- true", "--timeout -1: expected a time"},
           {"--silent m -- true", "--silent m: expected a time"},
           {"--kill-after nan -- true", "--kill-after nan: expected a time"},
           {"--timeout 5 --stub-timeout x -- true", "--stub-timeout x: expected seconds"},
           {"--timeout 5 --fail-on hang -- true", "--fail-on hang"},
           {"--timeout 5 --recorder /x.so -- true", "--record-queues, which is not there"},
           {"--timeout 5 --record-queues --recorder x.so -- true", "begins with /"},
           {"--timeout 5 --mpirun 17 -- true", "\"--mpirun\" is not a command or option here"}}) {
    const Ran ran = run("mqbridge run " + words);
    EXPECT_EQ(ran.status, 2) << words;
    EXPECT_THAT(ran.err, HasSubstr(says)) << words;
  }
}

} // namespace
} // namespace mqbridge::test
