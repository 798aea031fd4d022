#include "host/report/blocked_words.h"
#include "host/report/text_report.h"
#include "tests/document/sample_dump.h"
#include "tests/report/report_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mqbridge::test {
namespace {

using testing::HasSubstr;
using testing::Not;

BlockedCall in_call(const std::string& call, const std::string& file, std::int64_t line) {
  return {.thread = 1, .call = call, .file = file, .line = line, .function = "exchange"};
}

BlockedCall outside(const std::string& function) {
  return {.thread = 2, .file = "src/solve.c", .line = 41, .function = function};
}

std::string words_of(std::vector<BlockedCall> calls) {
  RankDump rank = complete_rank(0);
  rank.blocked_in = std::move(calls);
  return blocked_words(rank);
}

TEST(BlockedWords, OfOneThread) {
  EXPECT_EQ(words_of({in_call("MPI_Recv", "/home/anna/halo.c", 212)}), "in MPI_Recv at halo.c:212");
  EXPECT_EQ(words_of({{.call = "MPI_Recv", .function = "mpi4py.MPI.Comm.Recv"}}),
            "in MPI_Recv called by mpi4py.MPI.Comm.Recv");
  EXPECT_EQ(words_of({{.call = "MPI_Recv"}}), "in MPI_Recv");
  EXPECT_EQ(words_of({outside("compute")}), "outside MPI: compute at solve.c:41");
  auto waiting = outside("compute");
  waiting.system_call = "futex";
  EXPECT_EQ(words_of({waiting}), "outside MPI: compute at solve.c:41, in system call futex");
  EXPECT_EQ(words_of({{.system_call = "poll"}}), "outside MPI: in system call poll");
  EXPECT_EQ(words_of({{.system_call = "restart_syscall"}}), "outside MPI: in a system call");
  EXPECT_EQ(words_of({{}}), "outside MPI");
}

TEST(BlockedWords, WhatIsNotKnownIsNotSaid) {
  EXPECT_EQ(words_of({}), "");
  EXPECT_EQ(blocked_words(complete_rank(0)), "");
}

TEST(BlockedWords, OfSeveralThreads) {
  const auto receive = in_call("MPI_Recv", "a.c", 1);
  const auto send = in_call("MPI_Send", "a.c", 9);
  EXPECT_EQ(words_of({receive, send}), "in MPI_Recv at a.c:1, MPI_Send at a.c:9");
  EXPECT_EQ(words_of({receive, send, send}), "in MPI_Recv at a.c:1, MPI_Send at a.c:9 (2 threads)");
  EXPECT_EQ(words_of({outside("work"), receive, outside("work")}),
            "in MPI_Recv at a.c:1 (2 more threads outside MPI)")
      << "what waits in MPI comes first";
  EXPECT_EQ(words_of({outside("compute"), outside("work")}),
            "outside MPI: compute at solve.c:41 (1 more thread outside)");
  std::vector<BlockedCall> many;
  for (int line = 1; line <= 6; ++line)
    many.push_back(in_call("MPI_Recv", "a.c", line));
  EXPECT_EQ(words_of(many),
            "in MPI_Recv at a.c:1, MPI_Recv at a.c:2, MPI_Recv at a.c:3 and 3 more");
}

TEST(BlockedWords, OfATargetArePrintable) {
  EXPECT_EQ(words_of({in_call("MPI_\x1bRecv", "ha\nlo.c", 1)}),
            "in MPI_\\x1bRecv at ha\\x0alo.c:1");
  EXPECT_LT(words_of({outside(std::string(9000, 'x'))}).size(), 100U);
}

TEST(BlockedWords, StandInTheHeadingOfARank) {
  Dump dump = sample_dump();
  dump.ranks[0].blocked_in = std::vector{in_call("MPI_Recv", "halo.c", 212)};
  dump.ranks[1].status = RankStatus::partial;
  dump.ranks[1].errors = {{"walk.cut", RankError::Level::error, "cut", ""}};
  dump.ranks[1].blocked_in = std::vector{outside("compute")};
  const auto text = text_of(dump);
  EXPECT_THAT(text, HasSubstr("\nRank 0  in MPI_Recv at halo.c:212   ./solver   DLL "
                              "libompi_dbg_msgq.so\n"));
  EXPECT_THAT(text, HasSubstr("\nRank 1  PARTIAL  walk.cut  outside MPI: compute at solve.c:41"));
}

TEST(BlockedWords, StandAtAGroupOrAtThePartsOfItThatDiffer) {
  Dump dump = ring_dump(20);
  for (RankDump& rank : dump.ranks)
    rank.blocked_in = std::vector{in_call("MPI_Recv", "halo.c", 212)};
  dump.ranks[3].blocked_in = std::vector{in_call("MPI_Send", "halo.c", 9)};
  dump.ranks[5].blocked_in.reset();
  const auto text = text_of(dump);
  EXPECT_THAT(text, HasSubstr("\nRanks 0-18:2  in MPI_Recv at halo.c:212\n"));
  EXPECT_THAT(text, HasSubstr("\nRanks 1-19:2\n"
                              "  ranks 1,7-19:2: in MPI_Recv at halo.c:212\n"
                              "  rank 3: in MPI_Send at halo.c:9\n"
                              "  rank 5: call not known\n"));
}

TEST(BlockedWords, OfManyCallsTheMostFrequentOnesAreNamed) {
  Dump dump = ring_dump(20);
  for (RankDump& rank : dump.ranks)
    rank.blocked_in = std::vector{in_call("MPI_Recv", "halo.c", *rank.rank)};
  const auto text = text_of(dump);
  EXPECT_THAT(text, HasSubstr("  rank 6: in MPI_Recv at halo.c:6\n"
                              "  and 6 other calls: mqbridge stacks\n"));
}

TEST(BlockedWords, OfARankWithoutQueuesAreSaidToo) {
  Dump dump = sample_dump();
  dump.ranks[1] = dump.ranks[2];
  dump.ranks[1].rank = 1;
  for (const int rank : {1, 2})
    dump.ranks[static_cast<std::size_t>(rank)].blocked_in =
        std::vector{in_call("MPI_Barrier", "t.c", rank)};
  const auto text = text_of(dump);
  EXPECT_THAT(text, HasSubstr("  in MPI_Barrier at t.c:1\n"));
  EXPECT_THAT(text, HasSubstr("  in MPI_Barrier at t.c:2\n"));
}

TEST(BlockedWords, HelperThreadsAreNamedWhereAllThreadsAreWanted) {
  Dump dump = sample_dump();
  StackFrame inner;
  inner.function = "epoll_wait";
  StackFrame first;
  first.function = "progress_engine";
  const ThreadStack helper{.thread = 7, .helper = true, .frames = {inner, first}};
  dump.ranks[0].stacks = std::vector{ThreadStack{.thread = 1}, helper, helper};
  EXPECT_THAT(text_of(dump, {.all_threads = true}),
              HasSubstr("libompi_dbg_msgq.so\n  2 helper threads: progress_engine\n  C1"));
  EXPECT_THAT(text_of(dump), Not(HasSubstr("helper")));
}

} // namespace
} // namespace mqbridge::test
