// The preloaded recorder in MPI programs that check themselves (programs/): what MPI tells them is
// the same with it and without it, and what it keeps is what they did.

#include "tests/support/child_process.h"
#include "tests/support/host_mpi.h"
#include "tests/support/requirements.h"

#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

namespace mqbridge {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;
using Environment = std::vector<std::pair<std::string, std::string>>;

const std::string programs = MQBRIDGE_RECORDER_PROGRAMS;

/// How processes talk to each other, and who starts them.
struct Transport {
  std::string name;
  std::string mpi; ///< a folder of programs, and of build/recorder
  std::vector<std::string> starter;
};

void PrintTo(const Transport& transport, std::ostream* out) {
  *out << transport.name;
}

const Transport ob1 = {"ob1",
                       "openmpi",
                       {"mpirun.openmpi", "--oversubscribe", "--mca", "pml", "ob1", "--mca", "btl",
                        "self,vader", "-np"}};
const Transport ucx = {"ucx",
                       "openmpi",
                       {"mpirun.openmpi", "--oversubscribe", "--mca", "pml", "ucx", "--mca",
                        "pml_ucx_tls", "any", "--mca", "pml_ucx_devices", "any", "-np"}};
const Transport mpich = {"mpich", "mpich", {"mpiexec.mpich", "-n"}};

std::string recorder_of(const Transport& transport) {
  return fmt::format("{}/{}/libmqbridge-recorder.so", MQBRIDGE_RECORDER_LIBRARIES, transport.mpi);
}

std::string lacking(const Transport& transport, const std::string& program) {
  if (std::filesystem::exists(programs + "/" + transport.mpi + "/" + program))
    return {};
  return fmt::format("{} was not built for {}: apt install lib{}-dev gfortran, and configure anew",
                     program, transport.mpi, transport.mpi);
}

struct Job {
  int ranks = 1;                         ///< 0: one process, started without a starter
  std::vector<std::string> command = {}; ///< a program, its arguments
  std::string preloaded = {};
  Environment environment = {};
};

/// With Open MPI, too, the recorder asks MPI_T.
const Environment listing = {{"MQBRIDGE_VARIABLES", "1"}};

struct Outcome {
  test::Ending ending;
  std::string out;
  std::string err;
};

Outcome outcome_of(const test::ChildSpec& spec) {
  test::ChildProcess child(spec);
  const auto ending = child.wait(100s);
  if (!ending)
    throw std::runtime_error("still running after 100 s: " + child.out() + child.err());
  return {*ending, child.out(), child.err()};
}

/// The library comes into the ranks only: env stands between them and their starter.
Outcome outcome_of(const Transport& transport, const Job& job) {
  std::vector<std::string> argv;
  if (job.ranks > 0) {
    argv = transport.starter;
    argv.push_back(std::to_string(job.ranks));
  }
  argv.push_back("env");
  if (!job.preloaded.empty())
    argv.push_back("LD_PRELOAD=" + job.preloaded);
  for (const auto& [name, value] : job.environment)
    argv.push_back(name + "=" + value);
  argv.push_back(programs + "/" + transport.mpi + "/" + job.command.front());
  argv.insert(argv.end(), job.command.begin() + 1, job.command.end());
  return outcome_of(test::ChildSpec{argv,
                                    {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                     {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                                     {"PMIX_MCA_gds", "hash"},
                                     // Of another test's laboratory it would find devices that go.
                                     {"UCX_NET_DEVICES", "lo"}}});
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

/// All ranks of it pass, with the library in them or without it.
void expect_passes(const Transport& transport, const Job& job) {
  const Outcome outcome = outcome_of(transport, job);
  const std::string how = job.preloaded.empty() ? "passed, not recorded" : "passed, recorded";
  EXPECT_EQ(outcome.ending.code, 0) << outcome.out << outcome.err;
  EXPECT_EQ(count(outcome.out, how), job.ranks) << outcome.out << outcome.err;
}

class RecorderPrograms : public testing::TestWithParam<Transport> {
protected:
  static bool has_windows() { return GetParam().name != "ucx" || test::openmpi_version() < "5"; }

  void passes_with_and_without(const Job& job) {
    MQBRIDGE_SKIP_IF_LACKING(lacking(GetParam(), job.command.front()));
    expect_passes(GetParam(), job);
    expect_recorded(job);
  }

  void expect_recorded(Job job) {
    job.preloaded = recorder_of(GetParam());
    job.environment.emplace_back("RECORDER_TEST_RECORDED", "1");
    expect_passes(GetParam(), job);
  }
};

INSTANTIATE_TEST_SUITE_P(Transports, RecorderPrograms, testing::Values(ob1, ucx, mpich),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(RecorderPrograms, RequestsOfEveryKindOfOneProcess) {
  passes_with_and_without({.ranks = 1, .command = {"alone"}});
  expect_recorded({.ranks = 1, .command = {"alone"}, .environment = listing});
}

TEST_P(RecorderPrograms, CommunicatorsCollectivesAndWindowsOfFour) {
  if (!has_windows())
    GTEST_SKIP() << "Open MPI " << test::openmpi_version() << " makes no window over UCX";
  passes_with_and_without({.ranks = 4, .command = {"together"}, .environment = listing});
}

TEST_P(RecorderPrograms, FourThreadsAtOnce) {
  passes_with_and_without({.ranks = 2, .command = {"threads"}, .environment = listing});
}

// UCX changes code where it watches the program's memory, which no sanitizer survives: MPICH's can
// be told not to, Open MPI's cannot.
class RecorderSanitized : public RecorderPrograms {};
INSTANTIATE_TEST_SUITE_P(Transports, RecorderSanitized, testing::Values(ob1, mpich),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(RecorderSanitized, SanitizersFindNothing) {
  for (const std::string sanitizer : {"thread", "address"}) {
    for (const auto& [program, ranks] :
         {std::pair("alone", 1), std::pair("threads", 2), std::pair("handles", 2)}) {
      const std::string sanitized = fmt::format("{}_{}", program, sanitizer);
      MQBRIDGE_SKIP_IF_LACKING(lacking(GetParam(), sanitized));
      const Outcome outcome = outcome_of(
          GetParam(),
          {.ranks = ranks,
           .command = {sanitized},
           .environment = {{"RECORDER_TEST_RECORDED", "1"},
                           {"UCX_MEM_EVENTS", "no"},
                           {"ASAN_OPTIONS", "detect_leaks=0"},
                           {"TSAN_OPTIONS", "ignore_noninstrumented_modules=1 "
                                            "suppressions=" MQBRIDGE_TSAN_SUPPRESSIONS}}});
      EXPECT_EQ(outcome.ending.code, 0) << outcome.out << outcome.err;
      EXPECT_EQ(count(outcome.out, "passed, recorded"), ranks) << outcome.out << outcome.err;
    }
  }
}

TEST_P(RecorderPrograms, ErrorsReachTheProgramAndLeaveNothingBehind) {
  if (GetParam().mpi == "openmpi")
    MQBRIDGE_SKIP_IF_NOT_OPENMPI("4."); // 5.0.7 dies in its own MPI_Waitsome
  passes_with_and_without({.ranks = 1, .command = {"errors"}});
}

// Behind the recorder, the tool shows the program what is recorded of the call that it is in.
TEST_P(RecorderPrograms, AnotherToolBeforeItOrBehindIt) {
  if (!has_windows())
    GTEST_SKIP() << "Open MPI " << test::openmpi_version() << " makes no window over UCX";
  MQBRIDGE_SKIP_IF_LACKING(lacking(GetParam(), "inside"));
  expect_passes(GetParam(), {.ranks = 2, .command = {"inside"}});
  const std::string recorder = recorder_of(GetParam());
  const std::string tool = programs + "/" + GetParam().mpi + "/tool.so";
  Job job = {.ranks = 2,
             .command = {"inside"},
             .preloaded = recorder + ":" + tool,
             .environment = {{"MQBRIDGE_VARIABLES", "1"},
                             {"RECORDER_TEST_RECORDED", "1"},
                             {"RECORDER_TEST_TOOL", "behind"}}};
  expect_passes(GetParam(), job);
  job.preloaded = tool + ":" + recorder;
  job.environment.back().second = "before";
  expect_passes(GetParam(), job);
}

TEST_P(RecorderPrograms, FortranIsRecordedOnce) {
  for (const std::string binding : {"mpif_h", "use_mpi", "use_mpi_f08"})
    passes_with_and_without({.ranks = 2, .command = {binding}});
}

TEST_P(RecorderPrograms, HandlesAreWhatMpiSays) {
  if (!has_windows())
    GTEST_SKIP() << "Open MPI " << test::openmpi_version() << " makes no window over UCX";
  passes_with_and_without({.ranks = 2, .command = {"handles"}});
  const std::string tool = programs + "/" + GetParam().mpi + "/tool.so";
  expect_passes(
      GetParam(),
      {.ranks = 2, .command = {"handles"}, .preloaded = recorder_of(GetParam()) + ":" + tool});
}

TEST_P(RecorderPrograms, TheProgramsOwnUseOfMpiTGoesOn) {
  for (const std::string how : {"early", "too_often", "levels"})
    passes_with_and_without({.ranks = 1, .command = {"variables", how}, .environment = listing});
}

// In calls that wait; and in others, where the environment says how often.
TEST_P(RecorderPrograms, PerformanceVariablesAreSampled) {
  Job job = {.ranks = 1, .command = {"variables", "samples"}, .environment = listing};
  passes_with_and_without(job);
  job.command.emplace_back("in tests");
  job.environment.emplace_back("MQBRIDGE_SAMPLE_MS", "20");
  passes_with_and_without(job);
}

TEST_P(RecorderPrograms, CommunicatorsThatGoAreSampledNoMore) {
  for (const std::string how : {"many", "attributes"})
    passes_with_and_without({.ranks = 1, .command = {"variables", how}, .environment = listing});
}

// Open MPI's MPI_T copies texts of any length, and says of all that they have 2,048 bytes.
TEST_P(RecorderPrograms, LongTextsAreWholeOrNotThere) {
  for (const std::size_t length : {3'000U, 20'000U, 100'000U}) {
    Job job = {.ranks = 1, .command = {"variables", "text"}, .environment = listing};
    job.environment.emplace_back("OMPI_MCA_coll_tuned_dynamic_rules_filename",
                                 std::string(length, 'x'));
    expect_recorded(job);
  }
}

// Of MPICH, whose list may be made again: here by a tool behind the recorder.
TEST_P(RecorderPrograms, ListsAnewAndSurvivesAJumpOutOfIt) {
  if (GetParam().mpi != "mpich")
    GTEST_SKIP() << "Open MPI has registered everything from the start";
  for (const std::string how : {"changes", "jumps"}) {
    const Job job = {.ranks = 1,
                     .command = {"variables", how},
                     .preloaded = recorder_of(GetParam()) + ":" + programs + "/mpich/tool.so",
                     .environment = {{"RECORDER_TEST_RECORDED", "1"}}};
    expect_passes(GetParam(), job);
  }
}

TEST_P(RecorderPrograms, ForksRunProgramsAndHaveNoQueues) {
  passes_with_and_without({.ranks = 1, .command = {"harmless", "fork"}, .environment = listing});
}

TEST_P(RecorderPrograms, ClosingItLeavesIt) {
  passes_with_and_without({.ranks = 1, .command = {"harmless", "close", recorder_of(GetParam())}});
}

TEST_P(RecorderPrograms, WhatACallbackSendsIsMissingAndThatIsSaid) {
  passes_with_and_without({.ranks = 1, .command = {"harmless", "callback"}});
}

// MPI itself ends these programs; the recorder changes neither how nor what it says.
TEST_P(RecorderPrograms, CallsAtTheWrongTimeEndAsWithoutIt) {
  for (const std::string when : {"early", "late", "abort"}) {
    Job job = {.ranks = 0, .command = {"harmless", when}};
    MQBRIDGE_SKIP_IF_LACKING(lacking(GetParam(), "harmless"));
    const Outcome without = outcome_of(GetParam(), job);
    job.preloaded = recorder_of(GetParam());
    const Outcome with = outcome_of(GetParam(), job);
    EXPECT_EQ(with.ending.code, without.ending.code) << when << with.err;
    EXPECT_NE(with.ending.code, 0) << when;
    EXPECT_THAT(with.err, testing::Not(HasSubstr("ignal"))) << when;
  }
}

// The shell, and programs that it runs, with all symbols bound at once.
TEST(RecorderPreloaded, ProgramsWithoutMpiDoNotNotice) {
  for (const Transport& transport : {ob1, mpich}) {
    const std::string recorder = recorder_of(transport);
    if (!std::filesystem::exists(recorder))
      continue;
    const Outcome outcome =
        outcome_of(test::ChildSpec{{"sh", "-c", "echo $((6 * 7)); sh -c 'exit 5'"},
                                   {{"LD_PRELOAD", recorder}, {"LD_BIND_NOW", "1"}}});
    EXPECT_EQ(outcome.out, "42\n");
    EXPECT_THAT(outcome.err, IsEmpty());
    EXPECT_EQ(outcome.ending.code, 5);
  }
}

// Handles of the one are no handles of the other: it says so before it does harm.
TEST(RecorderPreloaded, AnotherMpisRecorderSaysSo) {
  MQBRIDGE_SKIP_IF_LACKING(lacking(ob1, "alone") + lacking(mpich, "alone"));
  const std::pair<Transport, Transport> pairs[] = {{ob1, mpich}, {mpich, ob1}};
  for (const auto& [running, built_for] : pairs) {
    const Outcome outcome = outcome_of(
        running, {.ranks = 1, .command = {"alone"}, .preloaded = recorder_of(built_for)});
    EXPECT_THAT(outcome.out + outcome.err,
                HasSubstr("libmqbridge-recorder.so: built for another MPI than this program's"));
    EXPECT_NE(outcome.ending.code, 0);
  }
}

} // namespace
} // namespace mqbridge
