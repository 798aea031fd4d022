// What the command line takes and what it refuses, as a shell sees it.

#include "tests/cli/program.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <regex>
#include <set>

namespace mqbridge::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::set<std::string> options_in(const std::string& help) {
  const std::regex option("\n  (--?[a-z-]+)");
  return {std::sregex_token_iterator(help.begin(), help.end(), option, 1), {}};
}

using Options = std::set<std::string>;

TEST(Help, HasExactlyTheseOptions) {
  const Options job = {"--targets",  "--mpirun",        "--slurm",        "--node",     "--save",
                       "--launcher", "--launcher-args", "--node-command", "--gdbserver"};
  Options doctor = {"-h",
                    "--dll",
                    "--sysroot",
                    "--debug-dir",
                    "--types",
                    "--path-map",
                    "--image",
                    "--config",
                    "--no-sandbox",
                    "--fetch-files",
                    "--connect-timeout",
                    "--run-until",
                    "--timeout",
                    "--cache",
                    "-o",
                    "--color",
                    "--trace"};
  Options ranks = {"-h", "--connect-timeout", "--timeout", "--format", "--full",
                   "-o", "--color",           "--trace"};
  ranks.insert(job.begin(), job.end());
  doctor.insert(job.begin(), job.end());
  Options dump = doctor;
  doctor.insert("--recorder");
  dump.insert({"--jobs",     "--max-stop", "--consistent", "--max-operations", "--max-bytes",
               "--max-walk", "--queue",    "--comm",       "--rank",           "--tag",
               "--peer",     "--format",   "--summary",    "--full",           "--show",
               "--raw",      "--stats",    "--progress",   "--collect",        "--collector",
               "--redact"});
  Options stacks = dump;
  dump.insert({"--threads", "--no-stacks", "--no-python", "--analyze", "--no-analyze", "--twice",
               "--fail-on"});
  Options why = dump;
  for (const char* of_queues :
       {"--queue", "--comm", "--rank", "--tag", "--peer", "--summary", "--show", "--raw",
        "--threads", "--no-stacks", "--analyze", "--no-analyze"})
    why.erase(of_queues);
  stacks.insert({"--threads", "--no-python"});
  for (const char* of_queues :
       {"--dll", "--types", "--config", "--max-operations", "--max-bytes", "--max-walk", "--queue",
        "--comm", "--tag", "--peer", "--summary", "--show", "--raw"})
    stacks.erase(of_queues);
  Options vars = stacks;
  vars.erase("--threads");
  vars.erase("--no-python");
  vars.erase("--redact");
  vars.insert({"--types", "--kind", "--verbosity", "--category", "--pattern", "--source", "--diff",
               "--all", "--unexpected"});
  Options handles = stacks;
  handles.erase("--threads");
  handles.erase("--no-python");
  handles.erase("--redact");
  handles.insert({"--dll", "--types", "--config", "--request", "--communicator", "--errhandler",
                  "--status", "--fortran"});
  const Options run_options = {"-h",
                               "--timeout",
                               "--silent",
                               "--kill-after",
                               "--record-queues",
                               "--recorder",
                               "--launcher",
                               "--launcher-args",
                               "--node-command",
                               "--gdbserver",
                               "--jobs",
                               "--dll",
                               "--types",
                               "--config",
                               "--sysroot",
                               "--debug-dir",
                               "--path-map",
                               "--fetch-files",
                               "--no-sandbox",
                               "--connect-timeout",
                               "--stub-timeout",
                               "--max-stop",
                               "--consistent",
                               "--max-operations",
                               "--max-bytes",
                               "--max-walk",
                               "--threads",
                               "--no-stacks",
                               "--no-python",
                               "--twice",
                               "--fail-on",
                               "--summary",
                               "--full",
                               "--show",
                               "--raw",
                               "--redact",
                               "--report",
                               "-o",
                               "--color",
                               "--trace"};
  EXPECT_EQ(options_in(run("mqbridge run --help").out), run_options);
  Options with_service = dump;
  with_service.insert({"--service", "--job"});
  EXPECT_EQ(options_in(run("mqbridge dump --help").out), with_service);
  EXPECT_EQ(options_in(run("mqbridge serve --help").out),
            (Options{"-h", "--listen", "--open", "--config", "--state", "--check"}));
  EXPECT_EQ(options_in(run("mqbridge jobs --help").out),
            (Options{"-h", "--service", "--format", "-o", "--color"}));
  EXPECT_EQ(options_in(run("mqbridge why --help").out), why);
  EXPECT_EQ(options_in(run("mqbridge stacks --help").out), stacks);
  EXPECT_EQ(options_in(run("mqbridge vars --help").out), vars);
  EXPECT_EQ(options_in(run("mqbridge handles --help").out), handles);
  EXPECT_EQ(
      options_in(run("mqbridge analyze --help").out),
      (Options{"-h", "--fail-on", "--before", "--format", "--full", "--redact", "-o", "--color"}));
  EXPECT_EQ(options_in(run("mqbridge show --help").out),
            (Options{"-h", "--queue", "--comm", "--rank", "--tag", "--peer", "--threads",
                     "--no-analyze", "--format", "--stats", "--summary", "--full", "--show",
                     "--raw", "--redact", "-o", "--color"}));
  EXPECT_EQ(options_in(run("mqbridge doctor --help").out), doctor);
  EXPECT_EQ(options_in(run("mqbridge ranks --help").out), ranks);
  EXPECT_EQ(
      options_in(run("mqbridge types make --help").out),
      (Options{"-h", "--mpi", "--cc", "--include", "--source", "--library", "--no-sandbox", "-o"}));
  EXPECT_EQ(options_in(run("mqbridge types check --help").out),
            (Options{"-h", "--library", "--no-sandbox"}));
  EXPECT_EQ(options_in(run("mqbridge types show --help").out), (Options{"-h", "--no-sandbox"}));
  EXPECT_EQ(options_in(run("mqbridge recorder make --help").out), (Options{"-h", "--mpicc", "-o"}));
  EXPECT_EQ(options_in(run("mqbridge --help").out), (Options{"-h", "--version"}));
}

TEST(Help, IsAResult) {
  for (const char* command :
       {"mqbridge --help", "mqbridge dump -h", "mqbridge types make --help"}) {
    const Ran ran = run(command);
    EXPECT_EQ(ran.status, 0) << command;
    EXPECT_EQ(ran.err, "");
    EXPECT_THAT(ran.out, HasSubstr("Usage: mqbridge"));
  }
}

TEST(Help, OfACommandIsThatOfItsOption) {
  EXPECT_EQ(run("mqbridge help").out, run("mqbridge --help").out);
  EXPECT_EQ(run("mqbridge help dump").out, run("mqbridge dump --help").out);
  EXPECT_EQ(run("mqbridge help types make").out, run("mqbridge types make --help").out);
  EXPECT_EQ(run("mqbridge help types make").status, 0);
}

TEST(Help, OfATopicStandsInThatOfItsCommand) {
  for (const auto& [topic, command] :
       {std::pair("targets", "doctor"), {"words", "dump"}, {"tree", "stacks"}}) {
    const std::string text = run(std::string("mqbridge help ") + topic).out;
    EXPECT_GT(text.size(), 200U) << topic;
    EXPECT_THAT(run(std::string("mqbridge help ") + command).out,
                HasSubstr(text.substr(0, text.size() - 1)));
  }
}

TEST(Help, ExplainsTheWordsOfTheReport) {
  const std::string help = run("mqbridge dump --help").out;
  for (const char* word : {"stops spread", "job stalled", "HELD", "n/a", "done", "C1", "2(0)"})
    EXPECT_THAT(help, HasSubstr(word));
}

TEST(Doctor, LooksAtEachOfSeveralTargets) {
  const Ran ran = run("mqbridge doctor unix:/nowhere/a unix:/nowhere/b");
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, StartsWith("mqbridge doctor unix:/nowhere/a "));
  EXPECT_THAT(ran.out, HasSubstr("\n\nmqbridge doctor unix:/nowhere/b "));
}

TEST(Help, NamesEveryKindOfTarget) {
  for (const char* command : {"mqbridge dump --help", "mqbridge doctor --help"}) {
    const Ran ran = run(command);
    for (const char* kind :
         {"HOST:PORT[@PID]", "[V6]:PORT[@PID]", "unix:PATH[@PID]", "serial:DEVICE[:BAUD]",
          "exec:COMMAND", "local:PID[,PID...]", "local:A-B", "core:FILE[@EXECUTABLE]"})
      EXPECT_THAT(ran.out, HasSubstr(kind)) << command;
  }
}

TEST(Help, FitsAHundredColumns) {
  std::istringstream in(run("mqbridge dump --help; mqbridge doctor --help; mqbridge stacks --help; "
                            "mqbridge run --help")
                            .out);
  for (std::string line; std::getline(in, line);)
    EXPECT_LE(line.size(), 100U) << line;
}

TEST(Help, WithoutArgumentsIsWrongUsageInTenLines) {
  const Ran ran = run("mqbridge");
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_LE(std::ranges::count(ran.err, '\n'), 10);
  EXPECT_THAT(ran.err, HasSubstr("Usage: mqbridge"));
}

TEST(Version, IsOneLine) {
  const Ran ran = run("mqbridge --version");
  EXPECT_EQ(ran.status, 0);
  EXPECT_TRUE(std::regex_match(
      ran.out, std::regex("mqbridge \\d+\\.\\d+\\.\\d+ \\(commit [^,]+, [^,]+\\)\n")))
      << ran.out;
}

struct Wrong {
  const char* arguments;
  const char* said;
};

void PrintTo(const Wrong& wrong, std::ostream* out) {
  *out << wrong.arguments;
}

class WrongUsage : public testing::TestWithParam<Wrong> {};

TEST_P(WrongUsage, ExitsWithTwoAndSaysWhatToWrite) {
  const Ran ran = run(std::string("mqbridge ") + GetParam().arguments);
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, StartsWith("mqbridge: "));
  EXPECT_THAT(ran.err, HasSubstr(GetParam().said));
  EXPECT_THAT(ran.err, HasSubstr("\nfix: "));
  EXPECT_LE(std::ranges::count(ran.err, '\n'), 10);
}

INSTANTIATE_TEST_SUITE_P(
    Commands, WrongUsage,
    testing::Values(
        Wrong{"analyze", "DUMP is required"}, Wrong{"analyze - -", "named twice"},
        Wrong{"analyze --fail-on hang a", "--fail-on hang: expected deadlock"},
        Wrong{"analyze --format tsv a", "tsv not in"}, Wrong{"listen", "\"listen\""},
        Wrong{"serve --listen 127.0.0.1:1", "has a Unix socket"},
        Wrong{"serve --config /nonexistent", "/nonexistent"},
        Wrong{"jobs --service node7:1", "has a Unix socket"},
        Wrong{"dump --service unix:/tmp/x", "which job"}, Wrong{"dump --job ../x", "which job"},
        Wrong{"dump --job x --mpirun 1", "--mpirun has no meaning"},
        Wrong{"--frobnicate", "\"--frobnicate\""}, Wrong{"doctor", "no target is named"},
        Wrong{"dump --mpirun x", "this names no process"},
        Wrong{"dump --mpirun 1 --slurm 2", "name a job each"},
        Wrong{"dump --slurm -x", "this is no job"}, Wrong{"dump --slurm 12.x", "this is no job"},
        Wrong{"dump --node=-oProxyCommand=id", "is not used as a node's name"},
        Wrong{"dump --targets /nonexistent", "/nonexistent"},
        Wrong{"ranks --node-command \\\"x", "quote is not closed"},
        Wrong{"help frobnicate", "\"frobnicate\" is not a command or topic"},
        Wrong{"help types mend", "\"mend\" is not a command or topic"},
        Wrong{"types", "subcommand is required"}, Wrong{"types mend", "\"mend\""},
        Wrong{"types make", "-o is required"}, Wrong{"types make --mpi lam -o /dev/null", "lam"},
        Wrong{"types show", "FILE is required"},
        Wrong{"types make --cc '' -o /dev/null", "--cc names no compiler"},
        Wrong{"recorder", "subcommand is required"},
        Wrong{"recorder make --mpicc ''", "--mpicc names no compiler"},
        Wrong{"doctor --recorder x.so a:1", "a path on the nodes begins with /"}));

INSTANTIATE_TEST_SUITE_P(
    Handles, WrongUsage,
    testing::Values(Wrong{"handles --request x a:1", "--request x: no handle"},
                    Wrong{"handles --communicator 0x a:1", "--communicator 0x: no handle"},
                    Wrong{"handles --errhandler -3000000000 a:1", "no handle"},
                    Wrong{"handles --status 0x1ffffffffffffffff a:1", "no handle"},
                    Wrong{"handles --fortran a:1", "--fortran is about handles"},
                    Wrong{"handles --fortran --request 0x123456789 a:1", "no Fortran INTEGER"}));

INSTANTIATE_TEST_SUITE_P(
    NearlyRight, WrongUsage,
    testing::Values(Wrong{"dump --mpirn 1", "\"--mpirn\" is not a command or option here; did you "
                                            "mean --mpirun?"},
                    Wrong{"dump --mpirn=1", "did you mean --mpirun?"},
                    Wrong{"dump --fial-on stuck a:1", "did you mean --fail-on?"},
                    Wrong{"dmup --mpirun 1", "did you mean dump?"},
                    Wrong{"types maek -o f", "did you mean make?"},
                    Wrong{"run --timeot 5 -- true", "did you mean --timeout?"}));

TEST(NearlyRight, IsNothingThatIsFarFromWhatWasWritten) {
  for (const char* far : {"dump --bogus a:1", "serve", "dump --x a:1"})
    EXPECT_THAT(run(std::string("mqbridge ") + far).err, Not(HasSubstr("did you mean"))) << far;
}

INSTANTIATE_TEST_SUITE_P(OptionsOfLater, WrongUsage,
                         testing::Values(Wrong{"stacks --analyze a:1", "--analyze"},
                                         Wrong{"dump --targets f a:1", "--targets"},
                                         Wrong{"vars --format html a:1", "html not in"},
                                         Wrong{"stacks --format dot a:1", "dot not in"},
                                         Wrong{"dump --redact --format collect local:1",
                                               "--redact is for"},
                                         Wrong{"doctor --format json a:1", "--format"}));

INSTANTIATE_TEST_SUITE_P(
    Values, WrongUsage,
    testing::Values(
        Wrong{"dump --twice x a:1", "--twice x: expected seconds"},
        Wrong{"dump --twice -1 a:1", "--twice"},
        Wrong{"dump --twice 1 --run-until signal a:1", "--run-until"},
        Wrong{"dump --analyze --no-analyze a:1", "contradict each other"},
        Wrong{"dump --fail-on deadlock --no-analyze a:1", "--fail-on contradict each other"},
        Wrong{"dump --fail-on deadlock: a:1", "--fail-on deadlock:: expected"},
        Wrong{"dump --fail-on deadlock:sure a:1", "deadlock:certain"}, Wrong{"dump --dll", "--dll"},
        Wrong{"dump --dll a --dll b c:1", "--dll"},
        Wrong{"dump --timeout 0 a:1", "--timeout 0: expected seconds"},
        Wrong{"dump --timeout nan a:1", "--timeout nan"},
        Wrong{"dump --timeout 1e9 a:1", "--timeout 1e9"},
        Wrong{"dump --connect-timeout 3s a:1", "--connect-timeout 3s"},
        Wrong{"dump --max-stop -1 a:1", "--max-stop -1"},
        Wrong{"dump --max-operations 0 a:1", "--max-operations 0"},
        Wrong{"dump --max-operations -5 a:1", "--max-operations -5"},
        Wrong{"dump --max-bytes 0 a:1", "--max-bytes 0: expected bytes"},
        Wrong{"dump --max-bytes 5T a:1", "--max-bytes 5T"},
        Wrong{"dump --max-bytes 99999999999G a:1", "--max-bytes 99999999999G"},
        Wrong{"dump --max-walk 0 a:1", "--max-walk 0: expected seconds"},
        Wrong{"doctor --max-walk 1 a:1", "--max-walk"},
        Wrong{"dump --show some a:1", "--show some"},
        Wrong{"dump --jobs 0 a:1", "--jobs 0: expected a whole number greater than 0"},
        Wrong{"dump --jobs all a:1", "--jobs all"}, Wrong{"doctor --jobs 2 a:1", "--jobs"},
        Wrong{"dump --cache some a:1", "some not in"}, Wrong{"doctor --cache '' a:1", "--cache"},
        Wrong{"dump --image @0x10 a:1", "--image @0x10: expected FILE[@BIAS]"},
        Wrong{"dump --image f@ a:1", "--image f@"},
        Wrong{"dump --image f@0xzz a:1", "--image f@0xzz"},
        Wrong{"dump --image f@12q a:1", "--image f@12q"},
        Wrong{"dump --image f@0x10000000000000000 a:1", "in 64 bits"},
        Wrong{"doctor --image '' a:1", "expected FILE[@BIAS]"},
        Wrong{"dump --sysroot /nowhere a:1", "--sysroot /nowhere: No such file"},
        Wrong{"dump --sysroot '' a:1", "--sysroot"},
        Wrong{"doctor --debug-dir /dev/null a:1", "--debug-dir /dev/null: no directory"},
        Wrong{"dump --tag x a:1", "--tag x"},
        Wrong{"dump --peer 99999999999999999999 a:1", "--peer"},
        Wrong{"dump --rank 3-1 a:1", "3-1"}, Wrong{"dump --queue all a:1", "all not in"},
        Wrong{"dump --run-until USR1 a:1", "--run-until USR1: expected signal or signal=NAME"},
        Wrong{"dump --run-until signal= a:1", "--run-until signal="},
        Wrong{"dump --run-until signal=SIGNOTHING a:1", "signal=SIGNOTHING"},
        Wrong{"doctor --run-until signal=0 a:1", "signal=0"},
        Wrong{"dump --path-map /a a:1", "--path-map /a: expected FROM=TO"},
        Wrong{"dump --path-map =/b a:1", "--path-map =/b"},
        Wrong{"dump --color red a:1", "red not in"},
        Wrong{"dump --summary --full a:1", "contradict"},
        Wrong{"stacks --threads some a:1", "some not in"}, Wrong{"stacks --dll d a:1", "--dll"},
        Wrong{"stacks --format tsv a:1", "tsv not in"},
        Wrong{"stacks --no-stacks a:1", "--no-stacks"}));

INSTANTIATE_TEST_SUITE_P(
    Collecting, WrongUsage,
    testing::Values(Wrong{"dump --collector /opt/mqbridge --node n1",
                          "--collector names a program"},
                    Wrong{"dump --collect --trace t --node n1", "--trace is of one computer"},
                    Wrong{"dump --collect --run-until signal ssh:n1:5", "--run-until is of one"},
                    Wrong{"dump --collect a:1", "a:1 is no process of a node"},
                    Wrong{"doctor --collect --node n1", "--collect"}));

INSTANTIATE_TEST_SUITE_P(
    Targets, WrongUsage,
    testing::Values(Wrong{"dump nowhere", "nowhere"}, Wrong{"dump ''", ""},
                    Wrong{"dump ssh:node:x", "no process id"},
                    Wrong{"dump core:@file", "core:FILE@EXECUTABLE"},
                    Wrong{"dump --run-until signal core:file", "core:file is dead"},
                    Wrong{"doctor --run-until signal core:file", "core:file is dead"},

                    Wrong{"dump =a:1", "no rank stands before"},
                    Wrong{"dump 0=a:1 0=b:1", "two targets are given as rank 0"},
                    Wrong{"dump local:5 a:1@6 local:5", "local:5 is given twice"},
                    Wrong{"dump 0=a:1@6 1=a:1@6", "a:1@6 is given twice"},
                    Wrong{"dump 20990", "did you mean local:20990?"},
                    Wrong{"doctor 3=20990", "did you mean local:20990?"},
                    Wrong{"dump local:7,x", "neither a process id nor a range"},
                    Wrong{"dump x=a:1", "no host"}));

TEST(Options, QueuesHaveTheNamesThatTheReportShows) {
  for (const char* name : {"recv", "receive"}) {
    const Ran ran = run(std::string("mqbridge dump --queue ") + name + " unix:/nowhere");
    EXPECT_EQ(ran.status, 3) << name;
    EXPECT_THAT(ran.out, HasSubstr("shown only: queue receive\n"));
  }
  EXPECT_THAT(run("mqbridge dump --queue unexp unix:/nowhere").out,
              HasSubstr("shown only: queue unexpected\n"));
}

TEST(Options, StacksOfATargetThatCannotBeReachedAreNone) {
  const Ran ran = run("mqbridge stacks --threads all unix:/nowhere");
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.out, StartsWith("0 of 1 rank, 0 threads\n"));
  EXPECT_THAT(ran.out, HasSubstr("not in the tree: rank unix:/nowhere: failed, see below\n"));
  EXPECT_THAT(run("mqbridge why unix:/nowhere").out,
              AllOf(StartsWith("mqbridge why   1 rank, 1 FAILED\n"), HasSubstr("connect.")));
  EXPECT_THAT(run("mqbridge stacks --format json unix:/nowhere").out,
              HasSubstr("\"filters\": {\"queue\":[]}"));
}

TEST(Options, OfTheCommandDoNotSwallowTargets) {
  // --sysroot takes one value: the port is a target, and refuses.
  const Ran ran = run("mqbridge dump --sysroot / --comm '[a,b]' --tag -1 127.0.0.1:1");
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.out, HasSubstr("connect.refused"));
  EXPECT_THAT(ran.out, HasSubstr("shown only: comm \"[a,b]\"; tag none"));
}

} // namespace
} // namespace mqbridge::test
