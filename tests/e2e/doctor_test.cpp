// doctor on a healthy target and on the usual troubles: for each line that is no praise, the line
// that mends it.

#include "tests/e2e/harness/foreign_truth.h"
#include "tests/e2e/harness/loopback.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mpich.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/support/gdb_server.h"
#include "tests/support/requirements.h"
#include "tests/support/temp_directory.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using test::TempDirectory;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

/// Of this build, for that MPI.
std::string recorder(const std::string& mpi) {
  return fmt::format("{}/recorder/{}/libmqbridge-recorder.so", MQBRIDGE_BINARY_DIRECTORY, mpi);
}

TEST(DoctorTest, HealthyTarget) {
  MpiJob job({.arguments = {"mix"}});
  const Outcome outcome = run_mqbridge({"doctor", local_target(job.pid(1))});
  EXPECT_EQ(outcome.status(), 0) << testing::PrintToString(outcome);
  for (const char* subject :
       {"reach", "stub", "platform", "MPI", "types", "transport", "DLL", "queues"})
    EXPECT_THAT(outcome.out, ContainsRegex(fmt::format("ok +{}", subject)));
  EXPECT_THAT(
      outcome.out,
      ContainsRegex("gdbserver [0-9.]+ \\(no-ack, .*\\); target runs on if we vanish:[ \n]+yes\n"));
  EXPECT_THAT(outcome.out, ContainsRegex("ok +unexpected read by mqbridge from ob1"));
  EXPECT_THAT(outcome.out, ContainsRegex("ok +inside .*collective"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("LIMIT ")));
  EXPECT_THAT(outcome.out, ContainsRegex("plan +dump"));
  EXPECT_THAT(outcome.out, HasSubstr("rank 1 of 2"));
  EXPECT_THAT(outcome.out, Not(ContainsRegex("FAULT +[a-zA-Z]")));
  EXPECT_EQ(job.finish(), "");
}

/// A carrier from the installed headers alone: the queues are read, ob1's own lists are not.
TEST(DoctorTest, WithoutTheTypesOfOb1SaysWhatIsNotReadAndWhatMendsIt) {
  const TempDirectory directory;
  const std::string carrier = directory / "ompi.types.so";
  const Outcome made = run_mqbridge({"types", "make", "-o", carrier});
  ASSERT_EQ(made.status(), 0) << testing::PrintToString(made);
  EXPECT_THAT(made.err, HasSubstr("unexpected messages"));
  EXPECT_THAT(made.err, HasSubstr("add: --source DIR"));
  MpiJob job({.arguments = {"mix"}});
  const Outcome outcome = run_mqbridge({"doctor", "--types", carrier, local_target(job.pid(1))});
  EXPECT_EQ(outcome.status(), 0) << testing::PrintToString(outcome);
  EXPECT_THAT(outcome.out, ContainsRegex("ok +types +ompi.types.so"));
  EXPECT_THAT(outcome.out, ContainsRegex("ok +queues +[0-9]+ pending"));
  EXPECT_THAT(outcome.out, ContainsRegex("LIMIT +unexpected .*not read"));
  EXPECT_THAT(outcome.out, ContainsRegex("fix .*apt source openmpi"));
  EXPECT_THAT(outcome.out, HasSubstr("mqbridge types make --mpi openmpi --source DIR"));
  EXPECT_THAT(outcome.out, ContainsRegex("LIMIT +inside "));

  const DumpOutcome dump = dump_json({"--types", carrier, local_target(job.pid(0))});
  EXPECT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  const auto& rank = dump.document["ranks"][0];
  EXPECT_THAT(rank["errors"].dump(), HasSubstr("types.partial"));
  for (const auto& communicator : rank["communicators"]) {
    EXPECT_EQ(communicator["queues"]["unexpected"]["state"], "unavailable");
    EXPECT_EQ(communicator["queues"]["unexpected"]["reason"], "types_missing");
    EXPECT_TRUE(communicator["counters"].is_null());
  }
  EXPECT_EQ(job.finish(), "");
}

TEST(DoctorTest, SaysWhetherTheNodesHaveTheRecorder) {
  MpiJob job({.arguments = {"mix"}});
  const auto said_of = [&](const std::string& path) {
    return run_mqbridge({"doctor", "--recorder", path, local_target(job.pid(1))});
  };
  const Outcome there = said_of(recorder("openmpi"));
  EXPECT_EQ(there.status(), 0) << testing::PrintToString(there);
  EXPECT_THAT(there.out, ContainsRegex("ok +recorder .*libmqbridge-recorder.so"));
  const Outcome elsewhere = said_of("/nodes/libmqbridge-recorder.so");
  EXPECT_EQ(elsewhere.status(), 1);
  EXPECT_THAT(elsewhere.out, ContainsRegex("FAULT +recorder .*/nodes/libmqbridge-recorder.so"));
  EXPECT_THAT(said_of("/etc/passwd").out, ContainsRegex("FAULT +recorder .*is no library"));
  EXPECT_EQ(job.finish(), "");
}

/// Of a job on one node one rank is looked at in full: the first that can be attached to. No other
/// is held.
TEST(DoctorTest, OfAJobLooksAtOneRankOfEachNode) {
  MpiJob job({.arguments = {"mix"}, .ranks = 3});
  const test::GdbServer other(test::ServerMode::attach, job.pid(0)); // somebody else's debugger
  const TempDirectory directory;
  const auto trace = directory / "trace";
  const Outcome outcome = run_mqbridge(
      {"doctor", "--mpirun", fmt::to_string(job.launcher()), "--trace", trace.string()});
  EXPECT_EQ(outcome.status(), 1) << testing::PrintToString(outcome);
  EXPECT_THAT(outcome.out, HasSubstr("mqbridge doctor   3 ranks on 1 node "));
  EXPECT_THAT(outcome.out, HasSubstr(fmt::format("as seen in local:{}\n", job.pid(1))));
  EXPECT_THAT(outcome.out, ContainsRegex("ok +queues"));
  EXPECT_THAT(outcome.out,
              HasSubstr(fmt::format("FAULT  others     rank 0: cannot attach to process {}: ",
                                    job.pid(0))));
  EXPECT_THAT(outcome.out, ContainsRegex("traces it already"));
  EXPECT_THAT(outcome.out, ContainsRegex("plan +dump +about .* each held about [0-9]+ ms\n$"));
  const auto packets = text_of(trace);
  EXPECT_THAT(packets, HasSubstr(fmt::format("vAttach;{:x}", job.pid(1))));
  EXPECT_THAT(packets, Not(HasSubstr(fmt::format("vAttach;{:x}", job.pid(2)))));
}

/// As a dump does: the next one opens them before it holds anything.
TEST(DoctorTest, KeepsWhichFilesWereLoaded) {
  const test::TempDirectory cache;
  SingleProcess process("recorder_list", {"3", "0", "1"});
  auto command = mqbridge_command({"doctor", local_target(process.pid())});
  command.environment.emplace_back("XDG_CACHE_HOME", cache.path().string());
  const Outcome outcome = run_program(command);
  EXPECT_EQ(outcome.status(), 0) << testing::PrintToString(outcome);
  const auto kept = cache / "mqbridge/known-files";
  EXPECT_TRUE(std::filesystem::is_directory(kept) && !std::filesystem::is_empty(kept));
  EXPECT_EQ(process.finish(), "");
}

TEST(DoctorTest, Ucx) {
  MpiJob job({.arguments = {"receives=4"}, .pml = "ucx"});
  const Outcome outcome = run_mqbridge({"doctor", local_target(job.pid(0))});
  EXPECT_EQ(outcome.status(), 0) << testing::PrintToString(outcome);
  EXPECT_THAT(outcome.out, Not(ContainsRegex("(LIMIT|FAULT) ")));
  EXPECT_THAT(outcome.out, ContainsRegex("ok +transport +ucx"));
  EXPECT_THAT(outcome.out, ContainsRegex("ok +queues +[1-9]"));
  EXPECT_THAT(outcome.out, ContainsRegex("ok +unexpected read by mqbridge from ucx"));
  EXPECT_EQ(job.finish(), "");
}

TEST(DoctorTest, AnMpiWithoutADebugDllWhoseQueuesMqbridgeReads) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_debian_mpich());
  const MpiJob job(debian_mpich_job("oracle_poster", {"receives=4"}));
  const Outcome outcome = run_mqbridge({"doctor", local_target(job.pid(0))});
  EXPECT_EQ(outcome.status(), 0) << testing::PrintToString(outcome);
  EXPECT_THAT(outcome.out, ContainsRegex("ok +MPI +MPICH .*, initialized, rank 0 of 2"));
  EXPECT_THAT(outcome.out, ContainsRegex("ok +transport +ch4:ucx"));
  EXPECT_THAT(outcome.out, ContainsRegex("ok +DLL +none: mqbridge reads the queues itself"));
  EXPECT_THAT(outcome.out, ContainsRegex("ok +queues +4 pending operations"));
  EXPECT_THAT(outcome.out, ContainsRegex("LIMIT +probe"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("MPI_Ssend"))) << "a limit of the debug DLL";
}

/// The transport is one that the debug DLL does not see.
TEST(DoctorTest, OfARecordedRankSaysWhatIsRecorded) {
  MpiJob job({.arguments = {"receives=4"},
              .pml = "ucx",
              .environment = {{"LD_PRELOAD", recorder("openmpi")}}});
  const Outcome outcome = run_mqbridge({"doctor", local_target(job.pid(0))});
  EXPECT_EQ(outcome.status(), 0) << testing::PrintToString(outcome);
  EXPECT_THAT(outcome.out, Not(ContainsRegex("(LIMIT|FAULT) ")));
  EXPECT_THAT(outcome.out, ContainsRegex("ok +recorder .*collectives"));
  EXPECT_THAT(outcome.out, ContainsRegex("ok +queues +[1-9]"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("--record-queues")));
  EXPECT_EQ(job.finish(), "");
}

TEST(DoctorTest, NotAnMpiProgram) {
  SingleProcess process("counter_loop");
  const Outcome outcome = run_mqbridge({"doctor", local_target(process.pid())});
  EXPECT_NE(outcome.status(), 0);
  EXPECT_THAT(outcome.out, ContainsRegex("FAULT +MPI"));
  EXPECT_THAT(outcome.out, ContainsRegex("skip +queues"));
  EXPECT_THAT(outcome.out, HasSubstr("--fetch-files always"));
  const Outcome fetching =
      run_mqbridge({"doctor", "--fetch-files", "always", local_target(process.pid())});
  EXPECT_THAT(fetching.out, ContainsRegex("FAULT +MPI"));
  EXPECT_THAT(fetching.out, Not(HasSubstr("--fetch-files"))) << "it was given already";
  EXPECT_TRUE(makes_progress(process.directory(), 2s));
  EXPECT_EQ(process.finish(), "");
}

TEST(DoctorTest, TypesMissing) {
  SingleProcess victim("mpi_victim");
  const TempDirectory directory;
  for (const char* name : {"mqbridge", "mqbridge-worker", "mqbridge-indexer", "mqbridge-unwinder",
                           "mqbridge-guardian"})
    std::filesystem::copy(std::filesystem::path(MQBRIDGE_BINARY_DIRECTORY) / name,
                          directory / name);
  const Outcome outcome =
      run_program({{(directory / "mqbridge").string(), "doctor", local_target(victim.pid())}});
  EXPECT_NE(outcome.status(), 0);
  EXPECT_THAT(outcome.out, ContainsRegex("FAULT +types"));
  EXPECT_THAT(outcome.out, HasSubstr("apt install libopenmpi-dev"));
  EXPECT_THAT(outcome.out, HasSubstr("mqbridge types make"));
  EXPECT_EQ(victim.finish(), "");
}

/// A gdbserver that takes processes in turn works whatever becomes of one; one that was started for
/// a process ends with it, before it has said a word.
TEST(DoctorTest, AProcessThatIsNotThereIsNoPraiseForWhatComesBehind) {
  constexpr pid_t beyond_any = 4'194'304; // PID_MAX_LIMIT
  const Outcome in_turn = run_mqbridge({"doctor", local_target(beyond_any)});
  EXPECT_EQ(in_turn.status(), 1) << testing::PrintToString(in_turn);
  EXPECT_THAT(in_turn.out, ContainsRegex("ok +stub"));
  EXPECT_THAT(in_turn.out, ContainsRegex("FAULT +attach +there is no process 4194304"));
  EXPECT_THAT(in_turn.out, Not(ContainsRegex("ok +(attach|platform|MPI|types|DLL|queues)")));
  const Outcome started =
      run_mqbridge({"doctor", fmt::format("exec:gdbserver --once --attach - {}", beyond_any)});
  EXPECT_EQ(started.status(), 1) << testing::PrintToString(started);
  EXPECT_THAT(started.out, ContainsRegex("FAULT +reach"));
  EXPECT_THAT(started.out, Not(ContainsRegex("\nok ")));
}

TEST(DoctorTest, NobodyListens) {
  const Outcome outcome = run_mqbridge({"doctor", fmt::format("127.0.0.1:{}", unused_port())});
  EXPECT_NE(outcome.status(), 0);
  EXPECT_THAT(outcome.out, ContainsRegex("FAULT +reach"));
  EXPECT_THAT(outcome.out, HasSubstr("gdbserver"));
}

} // namespace
} // namespace mqbridge::e2e
