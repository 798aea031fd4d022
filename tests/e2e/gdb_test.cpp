// `mqbridge gdb` on ranks of real jobs, what `monitor mpi` prints there, and what becomes of a rank
// whose debugger has vanished.

#include "tests/e2e/harness/dead_process.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/terminal.h"
#include "tests/support/eventually.h"
#include "tests/support/process_table.h"
#include "tests/support/temp_directory.h"

#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// What `mqbridge gdb` prints, with these commands for gdb.
Outcome gdb_session(std::vector<std::string> target, const std::vector<std::string>& commands) {
  target.insert(target.begin(), "gdb");
  target.insert(target.end(), {"--", "-nx", "-batch", "-ex", "set confirm off"});
  for (const std::string& command : commands)
    target.insert(target.end(), {"-ex", command});
  return run_program(mqbridge_command(target), 2min);
}

std::vector<std::string> rank_of(const MpiJob& job, int rank) {
  return {"--mpirun", std::to_string(job.launcher()), "--rank", std::to_string(rank)};
}

TEST(Gdb, ABreakpointInARankOfAJobThatEndsAsItShould) {
  MpiJob job({.program = "pi_loop", .arguments = {"1500"}, .ranks = 4});
  const Outcome seen = gdb_session(
      rank_of(job, 2),
      {"print $_mpi_rank", "print $_mpi_size", "show prompt", "break pass_on", "continue",
       "break MPI_Recv", "continue", "monitor mpi stacks", "monitor mpi queues", "finish",
       "mpi queues --summary", "info breakpoints", "delete", "detach"});
  EXPECT_EQ(seen.status(), 0) << seen.err;
  EXPECT_THAT(seen.out,
              AllOf(HasSubstr("$1 = 2"), HasSubstr("$2 = 4"), HasSubstr("(gdb rank 2)"),
                    HasSubstr("Breakpoint 1, pass_on"), HasSubstr("breakpoint already hit")));
  const std::string printed = seen.out + seen.err;
  EXPECT_THAT(printed,
              AllOf(HasSubstr("pass_on"), HasSubstr("1 of 4 ranks, 1 complete"),
                    HasSubstr("C1 MPI_COMM_WORLD"), HasSubstr("Rank 2  in MPI_Recv at pi_loop.c")))
      << printed;
  EXPECT_EQ(job.finish(), "");
}

TEST(Gdb, TheVerdictOfTheJobAsItStands) {
  MpiJob job({.program = "ring_deadlock", .ranks = 3});
  ASSERT_TRUE(job.await_spinning({0, 1, 2}));
  const Outcome seen = gdb_session(rank_of(job, 1), {"mpi verdict", "monitor mpi help",
                                                     "monitor mpi queues -o /tmp/no",
                                                     "monitor mpi sends", "monitor help"});
  const std::string printed = seen.out + seen.err;
  EXPECT_THAT(printed,
              AllOf(HasSubstr("VERDICT    DEADLOCK"), HasSubstr("0 -> 2 -> 1 -> 0"),
                    HasSubstr("held by a debugger"), HasSubstr("of rank 1, as it stands"),
                    HasSubstr("\"-o\" is none of its options"),
                    HasSubstr("\"sends\" is none of its words"), HasSubstr("Quit GDBserver")))
      << printed;
  EXPECT_THAT(printed, Not(HasSubstr("unchanged"))) << "a process that is held cannot change";
  EXPECT_TRUE(job.await_spinning({0, 1, 2})) << "all of them run on";
}

TEST(Gdb, CtrlCEndsALookAndNotTheSession) {
  MpiJob job({.program = "ring_deadlock", .ranks = 2});
  ASSERT_TRUE(job.await_spinning({0, 1}));
  Terminal terminal;
  terminal.type(fmt::format("exec {} gdb --mpirun {} --rank 1 -- -nx\n",
                            std::string(MQBRIDGE_BINARY_DIRECTORY "/mqbridge"), job.launcher()));
  ASSERT_TRUE(terminal.shows("(gdb rank 1) ", 60s)) << terminal.shown();
  terminal.type("mpi verdict --twice 50\n");
  std::this_thread::sleep_for(1s);
  terminal.type(Terminal::ctrl_c);
  terminal.type("print 4000 + 711\n");
  EXPECT_TRUE(terminal.shows("$1 = 4711", 30s)) << terminal.shown();
  terminal.type("continue\n");
  EXPECT_TRUE(terminal.shows("Continuing.", 30s)) << terminal.shown();
  std::this_thread::sleep_for(500ms);
  terminal.type(Terminal::ctrl_c);
  EXPECT_TRUE(terminal.shows("SIGINT", 30s)) << terminal.shown();
  terminal.type(Terminal::ctrl_z);
  terminal.type("print 4000 + 712\n");
  EXPECT_TRUE(terminal.shows("4712", 30s)) << "gdb is not suspended: it holds a process";
  terminal.close();
  EXPECT_TRUE(job.await_spinning({0, 1}));
}

TEST(Gdb, ACoreIsReadByGdbItself) {
  const DeadProcess dead("mix");
  const Outcome seen = gdb_session({dead.target()}, {"info inferiors", "bt -3"});
  EXPECT_EQ(seen.status(), 0) << seen.err;
  EXPECT_THAT(seen.out, AllOf(HasSubstr("oracle_poster"), HasSubstr("main (")));
}

TEST(Gdb, WhatCannotBeIsSaid) {
  const Outcome many = gdb_session({"local:1", "local:2"}, {});
  EXPECT_EQ(many.status(), 2);
  EXPECT_THAT(many.err, HasSubstr("a debugger is for one process, and these are 2"));
  const Outcome none = gdb_session({"local:4194304"}, {});
  EXPECT_EQ(none.status(), 1);
  EXPECT_THAT(none.err, HasSubstr("target.no_process"));
}

} // namespace
} // namespace mqbridge::e2e
