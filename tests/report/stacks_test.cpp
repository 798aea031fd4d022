#include "host/report/stack_calls.h"
#include "host/report/text_report.h"
#include "tests/document/sample_dump.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

namespace mqbridge::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string stacks_text(const Dump& dump, const TextOptions& options = {}) {
  return written([&](const Sink& sink) { write_stacks(dump, options, sink); });
}

StackFrame frame(const std::string& function, const std::string& file = {}, std::int64_t line = 0) {
  StackFrame made;
  made.function = function;
  if (!file.empty())
    made.file = file;
  if (line > 0)
    made.line = line;
  return made;
}

const std::string libmpi = "/usr/lib/libmpi.so.40";

/// Innermost first, as it stands on a stack: from `call` inwards the MPI's own functions.
std::vector<StackFrame> frames_in(const std::string& call, std::vector<StackFrame> callers) {
  std::vector<StackFrame> frames = {frame("poll"), frame("opal_progress"), frame("P" + call)};
  for (StackFrame& inner : frames)
    inner.module = libmpi;
  frames.insert(frames.end(), callers.begin(), callers.end());
  frames.push_back(frame("main", "/home/anna/src/solver.c", 41));
  frames.push_back(frame("__libc_start_call_main", "../sysdeps/nptl/libc_start_call_main.h", 58));
  frames.push_back(frame("__libc_start_main_impl", "../csu/libc-start.c", 392));
  frames.push_back(frame("_start"));
  return frames;
}

RankDump rank_in(int rank, const std::string& call, std::vector<StackFrame> callers) {
  RankDump dump = complete_rank(rank);
  dump.pid = 1000 + rank;
  dump.stacks = {{.thread = *dump.pid, .frames = frames_in(call, std::move(callers))}};
  dump.blocked_in = std::vector{BlockedCall{.thread = *dump.pid, .call = call}};
  return dump;
}

void add_helpers(RankDump& rank, int count) {
  for (int i = 0; i < count; ++i)
    rank.stacks->push_back({.thread = 9000 + i,
                            .helper = true,
                            .frames = {frame("epoll_wait"), frame("progress_engine"),
                                       frame("start_thread"), frame("clone3")}});
}

/// Three ranks in a collective, one in a receive.
Dump four_ranks() {
  Dump dump;
  dump.job_source = "targets";
  const auto solve = frame("solve", "solver.c", 212);
  for (const int rank : {0, 1, 2, 3})
    dump.ranks.push_back(rank == 2
                             ? rank_in(2, "MPI_Recv", {frame("exchange", "halo.c", 77), solve})
                             : rank_in(rank, "MPI_Allreduce", {solve}));
  for (RankDump& rank : dump.ranks)
    add_helpers(rank, 2);
  return dump;
}

TEST(StacksText, TheWholeOfASmallJob) {
  EXPECT_EQ(stacks_text(four_ranks()),
            R"(4 ranks, 4 threads (8 helper threads left out: --threads all)
  4  0-3    main  solver.c:41
  4  0-3      solve  solver.c:212
  3  0-1,3      MPI_Allreduce
  1  2          exchange  halo.c:77
  1  2            MPI_Recv
)");
}

TEST(StacksText, AllThreadsAreThoseOfTheRunTimeSystemToo) {
  const auto text = stacks_text(four_ranks(), {.all_threads = true});
  EXPECT_THAT(text, HasSubstr("4 ranks, 12 threads\n"));
  EXPECT_THAT(text, HasSubstr("\n  4  0-3    progress_engine  (8 threads)\n"
                              "  4  0-3      epoll_wait  (8 threads)\n"));
  EXPECT_THAT(text, Not(HasSubstr("start_thread")));
}

TEST(StacksText, InFullTheCallsInsideOfTheMpiAndAroundMainAreThere) {
  const auto text = stacks_text(four_ranks(), {.full = true});
  EXPECT_THAT(text, HasSubstr("\n  4  0-3    _start\n"
                              "  4  0-3      __libc_start_main_impl  libc-start.c:392\n"));
  EXPECT_THAT(text, HasSubstr("  1  2                  PMPI_Recv\n"
                              "  1  2                    opal_progress\n"
                              "  1  2                      poll\n"));
}

TEST(StacksText, CallsAreTheSameByFunctionAndLineAndNotByAddress) {
  Dump dump;
  for (const int rank : {0, 1, 2}) {
    RankDump made = rank_in(rank, "MPI_Barrier", {});
    auto& frames = made.stacks->front().frames;
    for (StackFrame& one : frames)
      one.address = TargetAddress{0x7f0000000000} + static_cast<std::uint64_t>(rank) * 4096;
    frames[3].line = rank == 2 ? 42 : 41;
    StackFrame stripped;
    stripped.module = "/opt/lib/libphysics.so.1";
    stripped.offset = 0x1a2b;
    stripped.address = frames[0].address;
    frames.insert(frames.begin() + 3, stripped);
    dump.ranks.push_back(made);
  }
  EXPECT_EQ(stacks_text(dump), R"(3 ranks, 3 threads
  2  0-1  main  solver.c:41
  2  0-1    libphysics.so.1+0x1a2b
  2  0-1      MPI_Barrier
  1  2    main  solver.c:42
  1  2      libphysics.so.1+0x1a2b
  1  2        MPI_Barrier
)");
}

TEST(StacksText, AnInlinedFunctionIsACall) {
  Dump dump;
  auto inlined = frame("halo<double>::exchange", "halo.h", 9);
  inlined.inlined = true;
  dump.ranks = {rank_in(0, "MPI_Send", {inlined, frame("solve", "solver.cpp", 3)})};
  EXPECT_THAT(stacks_text(dump), HasSubstr("solve  solver.cpp:3\n"
                                           "  1  0      halo<double>::exchange  halo.h:9\n"
                                           "  1  0        MPI_Send\n"));
}

TEST(StacksText, OfPythonItsFunctionsAndNotThoseThatRunThem) {
  const auto of = [](StackFrame made, std::string module) {
    made.module = std::move(module);
    return made;
  };
  const auto python = [](const char* function, int line) {
    auto made = frame(function, "solver.py", line);
    made.module.reset();
    made.language = FrameLanguage::python;
    return made;
  };
  const auto evaluator = of(frame("_PyEval_EvalFrameDefault"), "/usr/bin/python3.11");
  Dump dump;
  dump.ranks = {rank_in(0, "MPI_Recv",
                        {of(frame("PMPI_Recv"), "/usr/lib/libmpi.so.40"),
                         of(frame("__pyx_pw_1"), "/usr/lib/mpi4py/MPI.cpython-311.so"),
                         of(frame("cfunction_call"), "/usr/bin/python3.11"), python("main", 7),
                         python("start_thread", 9), evaluator, of(frame("apply"), "/opt/numpy.so"),
                         of(frame("PyObject_Call"), "/usr/bin/python3.11"), python("<module>", 12),
                         evaluator, of(frame("Py_BytesMain"), "/usr/bin/python3.11")})};
  EXPECT_THAT(stacks_text(dump), HasSubstr("  1  0    <module>  solver.py:12\n"
                                           "  1  0      apply\n"
                                           "  1  0        start_thread  solver.py:9\n"
                                           "  1  0          main  solver.py:7\n"
                                           "  1  0            MPI_Recv\n"));
}

TEST(StacksText, AStackThatDoesNotGoOnSaysWhy) {
  const std::vector<std::pair<StackEnd, std::string>> ends = {
      {StackEnd::no_cfi, "... no unwind information in /opt/jit.so"},
      {StackEnd::unreadable, "... memory or registers could not be read"},
      {StackEnd::cut, "... cut: not captured further"},
      {StackEnd::limit, "... cut: too many calls, or too slow to unwind"},
      {StackEnd::repeats, "... the same call again: damaged, or unwind information that loops"}};
  for (const auto& [end, words] : ends) {
    Dump dump;
    RankDump rank = complete_rank(0);
    auto last = frame("compute");
    last.module = "/opt/jit.so";
    rank.stacks = std::vector{ThreadStack{.thread = 1, .end = end, .frames = {last}},
                              ThreadStack{.thread = 2, .end = end, .frames = {}}};
    dump.ranks = {rank};
    EXPECT_THAT(stacks_text(dump), HasSubstr("  1  0  " + words)) << words;
    EXPECT_THAT(stacks_text(dump), HasSubstr("  1  0    compute\n"));
    EXPECT_THAT(stacks_text(dump), HasSubstr("1 rank, 2 threads\n"));
  }
}

/// Whatever comes behind main, it is not the program's.
TEST(StacksText, NothingIsMissingOfAStackThatReachesMain) {
  Dump dump;
  dump.ranks = {rank_in(0, "MPI_Send", {})};
  dump.ranks[0].stacks->front().end = StackEnd::no_cfi;
  EXPECT_THAT(stacks_text(dump), Not(HasSubstr("...")));
}

TEST(StacksText, OfManyKindsTheLargestAndTheLoneliestAreShown) {
  Dump dump;
  int next = 0;
  // Kinds a to l, of 12, 11, ... 1 ranks.
  for (int kind = 0; kind < 12; ++kind)
    for (int i = 0; i < 12 - kind; ++i)
      dump.ranks.push_back(
          rank_in(next++, "MPI_Send", {frame(fmt::format("kind_{:c}", 'a' + kind), "k.c", 1)}));
  const auto text = stacks_text(dump);
  for (const char kind : std::string("abcdijkl"))
    EXPECT_THAT(text, HasSubstr(fmt::format("kind_{:c}", kind)));
  for (const char kind : std::string("efgh"))
    EXPECT_THAT(text, Not(HasSubstr(fmt::format("kind_{:c}", kind))));
  EXPECT_THAT(text, HasSubstr("\n  78  0-77   main  solver.c:41\n  12  0-11     kind_a  k.c:1\n"));
  EXPECT_THAT(text, HasSubstr("\n  4 more kinds of stack left out: --full"));
  const auto full = stacks_text(dump, {.full = true});
  EXPECT_THAT(full, HasSubstr("kind_f"));
  EXPECT_THAT(full, Not(HasSubstr("left out")));
}

TEST(StacksText, RanksWithoutStacksAreSaidBelow) {
  Dump dump = four_ranks();
  dump.ranks.push_back(sample_dump().ranks[2]); // it failed
  dump.ranks.back().rank = 4;
  dump.ranks.push_back(complete_rank(5));
  dump.ranks.push_back(complete_rank(6));
  dump.ranks.back().stacks = std::vector<ThreadStack>();
  add_helpers(dump.ranks.back(), 1);
  EXPECT_EQ(stacks_text(dump, {.exit_status = 1}),
            R"(4 of 7 ranks, 4 threads (9 helper threads left out: --threads all)
  4  0-3    main  solver.c:41
  4  0-3      solve  solver.c:212
  3  0-1,3      MPI_Allreduce
  1  2          exchange  halo.c:77
  1  2            MPI_Recv
  not in the tree: rank 4: failed, see below
  not in the tree: rank 5: no stack was read
  not in the tree: rank 6: helper threads alone (--threads all)

Rank 4  FAILED  n019 pid 3312  ptrace.denied
  gdbserver: Operation not permitted; same user, yama ptrace_scope=1
  fix: sysctl -w kernel.yama.ptrace_scope=0
exit 1: 1 of 7 ranks failed
)");
}

TEST(StacksText, RanksWhoseNumberIsNotKnownAreCountedAndNamed) {
  Dump dump = four_ranks();
  dump.ranks[1].rank.reset();
  dump.ranks[1].host = "n018";
  dump.ranks[3].rank.reset();
  dump.ranks[3].pid.reset();
  std::swap(dump.ranks[1], dump.ranks[2]); // they stand last
  const auto text = stacks_text(dump);
  EXPECT_THAT(text, HasSubstr("  4  0,2,n018:1001 and 1 more  main"));
  EXPECT_THAT(text, HasSubstr("  3  0,n018:1001 and 1 more        MPI_Allreduce"));
  EXPECT_THAT(text, HasSubstr("  1  2                             exchange"));
}

TEST(StacksText, JobsHaveTreesOfTheirOwn) {
  Dump dump = four_ranks();
  for (std::size_t i = 0; i < 4; ++i) {
    dump.ranks[i].rank = static_cast<int>(i % 2);
    dump.ranks[i].job_id = i < 2 ? "1:anna" : "2:bert";
  }
  EXPECT_EQ(stacks_text(dump), R"(Job 1 (anna)
2 ranks, 2 threads (4 helper threads left out: --threads all)
  2  0-1  main  solver.c:41
  2  0-1    solve  solver.c:212
  2  0-1      MPI_Allreduce

Job 2 (bert)
2 ranks, 2 threads (4 helper threads left out: --threads all)
  2  0-1  main  solver.c:41
  2  0-1    solve  solver.c:212
  1  0        exchange  halo.c:77
  1  0          MPI_Recv
  1  1        MPI_Allreduce
)");
}

TEST(StacksText, WhatTheTargetSaysIsPrintableAndFits) {
  Dump dump;
  dump.ranks = {rank_in(0, "MPI_Send",
                        {frame("evil\x1b[2Jname", "dir/fi\nle.c", 3),
                         frame("deep<" + std::string(4000, 'x') + ">", "solver.cpp", 3)})};
  const auto text = stacks_text(dump);
  EXPECT_THAT(text, HasSubstr("evil\\x1b[2Jname  fi\\x0ale.c:3"));
  EXPECT_THAT(text, HasSubstr("xxx...  solver.cpp:3\n"));
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    EXPECT_LE(line.size(), 100U) << line;
}

TEST(StacksText, DeepRecursionIsOneKindAndFits) {
  Dump dump;
  for (const int rank : {0, 1})
    dump.ranks.push_back(rank_in(
        rank, "MPI_Send",
        std::vector<StackFrame>(static_cast<std::size_t>(900 + rank), frame("down", "d.c", 7))));
  EXPECT_EQ(stacks_text(dump), R"(2 ranks, 2 threads
  2  0-1  main  solver.c:41
  2  0-1    down  d.c:7
  2  0-1      ... the same call again and again: --full
  2  0-1        down  d.c:7
  2  0-1          MPI_Send
)");
  const auto full = stacks_text(dump, {.full = true});
  EXPECT_EQ(std::count(full.begin(), full.end(), '\n'), 3 + 1 + 900 + 3 + 1 + 3 + 1);
}

TEST(StacksText, OfVeryManyCallsTheMiddleIsLeftOut) {
  Dump dump;
  for (const int rank : {0, 1}) {
    std::vector<StackFrame> callers(static_cast<std::size_t>(300 + 2 * rank));
    for (std::size_t i = 0; i < callers.size(); ++i)
      callers[i] = frame(i % 2 == 0 ? "odd" : "even", "d.c", 7);
    dump.ranks.push_back(rank_in(rank, "MPI_Send", callers));
  }
  const auto text = stacks_text(dump);
  EXPECT_THAT(text, HasSubstr("... many calls are left out: --full"));
  EXPECT_THAT(text, HasSubstr("  2  0-1                                          [47] MPI_Send\n"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 49);
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    EXPECT_LE(line.size(), 100U) << line;
}

TEST(StackCalls, OfFortranAndToolsAreFoundByTheirSpelling) {
  for (const char* function :
       {"mpi_recv_", "mpi_recv_f08_", "PMPI_Recv", "MPI_Recv", "pmpi_recv__"}) {
    ThreadStack stack;
    stack.frames = {frame("opal_progress"), frame(function), frame("MAIN__", "solver.f90", 9),
                    frame("main")};
    const BlockedCall blocked{.call = "MPI_Recv"};
    EXPECT_THAT(
        stack_calls(stack, &blocked, false),
        ElementsAre(TreeCall{"main"}, TreeCall{"MAIN__", "solver.f90", 9}, TreeCall{"MPI_Recv"}))
        << function;
  }
}

/// A Fortran binding calls the C function: both spell the call.
TEST(StackCalls, TheOutermostFunctionOfTheMpiIsTheCall) {
  ThreadStack stack;
  stack.frames = {frame("PMPI_Recv"), frame("mpi_recv_"), frame("MAIN__")};
  const BlockedCall blocked{.call = "MPI_Recv"};
  EXPECT_THAT(stack_calls(stack, &blocked, false),
              ElementsAre(TreeCall{"MAIN__"}, TreeCall{"MPI_Recv"}));
}

/// In Open MPI's mpi_recv_ is another name of ompi_recv_f.
TEST(StackCalls, ABindingOfTheMpiIsTheCallWhateverItsName) {
  ThreadStack stack;
  stack.frames = {frame("PMPI_Recv"), frame("ompi_recv_f"), frame("solver", "solver.f90", 3),
                  frame("main")};
  stack.frames[0].module = libmpi;
  stack.frames[1].module = "/usr/lib/libmpi_mpifh.so.40";
  const BlockedCall blocked{.call = "MPI_Recv"};
  EXPECT_THAT(
      stack_calls(stack, &blocked, false),
      ElementsAre(TreeCall{"main"}, TreeCall{"solver", "solver.f90", 3}, TreeCall{"MPI_Recv"}));
}

/// PMPI_Finalize of some builds jumps to what does its work.
TEST(StackCalls, AFunctionOfTheMpiThatIsNoFrameIsTheOutermostOneOfItsLibrary) {
  ThreadStack stack;
  stack.frames = {frame("usleep"), frame("opal_progress"), frame("ompi_mpi_finalize"),
                  frame("main")};
  stack.frames[1].module = stack.frames[2].module = libmpi;
  const BlockedCall blocked{.call = "MPI_Finalize"};
  EXPECT_THAT(stack_calls(stack, &blocked, false),
              ElementsAre(TreeCall{"main"}, TreeCall{"MPI_Finalize"}));
}

TEST(StackCalls, WhereTheStackEndsBeforeTheCallTheRecorderTellsIt) {
  ThreadStack stack;
  stack.end = StackEnd::no_cfi;
  stack.frames = {frame("poll"), frame("wait_for_events")};
  stack.frames[1].module = "/opt/libfabric.so";
  const BlockedCall blocked{
      .call = "MPI_Recv", .file = "halo.c", .line = 212, .function = "exchange"};
  const TreeCall why{"... no unwind information in /opt/libfabric.so"};
  EXPECT_THAT(stack_calls(stack, &blocked, false),
              ElementsAre(why, TreeCall{"exchange", "halo.c", 212}, TreeCall{"MPI_Recv"}));
  EXPECT_THAT(stack_calls(stack, &blocked, true),
              ElementsAre(why, TreeCall{"exchange", "halo.c", 212}, TreeCall{"MPI_Recv"},
                          TreeCall{"wait_for_events"}, TreeCall{"poll"}));
  stack.frames.clear();
  EXPECT_THAT(stack_calls(stack, &blocked, false),
              ElementsAre(TreeCall{"... no unwind information: code of no file"},
                          TreeCall{"exchange", "halo.c", 212}, TreeCall{"MPI_Recv"}));
}

TEST(StackCalls, WithoutAnMpiCallAllAreShown) {
  ThreadStack stack;
  stack.frames = {frame("poll"), frame("wait_for_disk", "io.c", 5), frame("start_thread"),
                  frame("clone3")};
  const BlockedCall outside{.function = "wait_for_disk", .system_call = "poll"};
  for (const BlockedCall* blocked : {&outside, static_cast<const BlockedCall*>(nullptr)})
    EXPECT_THAT(stack_calls(stack, blocked, false),
                ElementsAre(TreeCall{"wait_for_disk", "io.c", 5}, TreeCall{"poll"}));
}

} // namespace
} // namespace mqbridge::test
