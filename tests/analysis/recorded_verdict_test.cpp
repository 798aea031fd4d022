// The verdict on jobs whose processes have recorders.

#include "host/analysis/analyze.h"
#include "tests/analysis/recorded_job.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace mqbridge {
namespace {

using test::ranks_of;
using test::RecordedJob;
using Ranks = std::vector<std::int64_t>;

std::vector<std::string> messages_of(const Analysis& analysis, FindingKind kind) {
  std::vector<std::string> messages;
  for (const Finding& finding : analysis.findings)
    if (finding.kind == kind)
      messages.push_back(finding.message);
  return messages;
}

bool finds(const Analysis& analysis, FindingKind kind) {
  return !messages_of(analysis, kind).empty();
}

Analysis one_look(RecordedJob& job) {
  job.settle();
  return analyze(job.dump);
}

/// Nothing has moved since.
Analysis recorded_looks(RecordedJob& job) {
  job.settle();
  job.look_again();
  return analyze(job.dump);
}

void expect_recorded_deadlock(const Analysis& analysis, const Ranks& core, const Ranks& blocked,
                              Confidence confidence) {
  EXPECT_EQ(analysis.verdict, Verdict::deadlock);
  EXPECT_EQ(ranks_of(analysis.core), core);
  EXPECT_EQ(ranks_of(analysis.blocked), blocked);
  EXPECT_EQ(analysis.confidence, confidence);
}

TEST(RecordedVerdict, ReceivesFromEachOtherAreACertainDeadlock) {
  RecordedJob job(3);
  job.blocked_in_receive(0, 1, 17);
  job.blocked_in_receive(1, 0, 17);
  job.blocked_in_receive(2, 0, 17);
  auto once = job;
  expect_recorded_deadlock(one_look(once), {0, 1}, {2}, Confidence::likely);
  const auto analysis = recorded_looks(job);
  expect_recorded_deadlock(analysis, {0, 1}, {2}, Confidence::certain);
  EXPECT_EQ(analysis.not_visible, std::vector<std::string>{});
  EXPECT_EQ(analysis.waits.front().because, "MPI_Recv from 1 tag 17 on C1");
}

TEST(RecordedVerdict, AMessageThatWasSentEndsTheWait) {
  RecordedJob job(2);
  job.sent(1, 0, 17);
  job.blocked_in_receive(0, 1, 17);
  job.blocked_in_receive(1, 0, 17);
  EXPECT_EQ(one_look(job).verdict, Verdict::no_deadlock);
}

TEST(RecordedVerdict, AMessageWithAnotherTagDoesNot) {
  RecordedJob job(2);
  job.sent(1, 0, 71);
  job.blocked_in_receive(0, 1, 17);
  job.blocked_in_receive(1, 0, 17);
  const auto analysis = recorded_looks(job);
  expect_recorded_deadlock(analysis, {0, 1}, {}, Confidence::certain);
  EXPECT_TRUE(finds(analysis, FindingKind::tag_mismatch));
}

/// Eager or not: its standing there tells.
TEST(RecordedVerdict, AStandardSendThatStandsStillWaitsForItsReceiver) {
  RecordedJob job(2);
  job.blocked_in_send(0, 1, 5);
  job.blocked_in_send(1, 0, 5);
  auto once = job;
  expect_recorded_deadlock(one_look(once), {0, 1}, {}, Confidence::possible);
  expect_recorded_deadlock(recorded_looks(job), {0, 1}, {}, Confidence::certain);
}

TEST(RecordedVerdict, ASynchronousSendWaitsForItsReceiver) {
  RecordedJob job(2);
  job.blocked_in_send(0, 1, 5, "MPI_Ssend");
  job.blocked_in_send(1, 0, 5, "MPI_Ssend");
  expect_recorded_deadlock(one_look(job), {0, 1}, {}, Confidence::likely);
}

TEST(RecordedVerdict, ABufferedSendWaitsForNobody) {
  RecordedJob job(2);
  job.begin_send(0, 1, 5, "MPI_Ibsend");
  job.wait(0, "MPI_Wait", 1, 0);
  job.blocked_in_receive(1, 0, 17);
  EXPECT_EQ(one_look(job).verdict, Verdict::no_deadlock);
}

/// Rank 0 waits for rank 2, which computes. That its message to rank 1 has met no receive may be a
/// wait for rank 1, and rank 1 waits for it. Where the message is eager it is none.
TEST(RecordedVerdict, ASendBesideAReceiveProvesNothingByItself) {
  RecordedJob job(3);
  job.begin_send(0, 1, 5);
  job.begin_receive(0, 2, 6);
  job.wait(0, "MPI_Waitall", 1, 1);
  job.blocked_in_receive(1, 0, 7);
  auto synchronous = job;
  expect_recorded_deadlock(recorded_looks(job), {0, 1}, {}, Confidence::possible);
  synchronous.world(0).queue(OpClass::send).operations[0].call =
      std::make_shared<const std::string>("MPI_Issend");
  expect_recorded_deadlock(recorded_looks(synchronous), {0, 1}, {}, Confidence::certain);
}

/// All else has come: then one of the sends is what does not end.
TEST(RecordedVerdict, OfSendsThatAloneAreLeftOneIsNotComplete) {
  RecordedJob job(2);
  for (const std::int64_t rank : {0, 1}) {
    job.begin_send(rank, 1 - rank, 5);
    job.begin_send(rank, 1 - rank, 6);
    job.wait(rank, "MPI_Waitall", 2, 0);
  }
  auto once = job;
  expect_recorded_deadlock(one_look(once), {0, 1}, {}, Confidence::possible);
  expect_recorded_deadlock(recorded_looks(job), {0, 1}, {}, Confidence::certain);
}

TEST(RecordedVerdict, OneOfAWaitanyIsEnough) {
  RecordedJob job(3);
  job.begin_receive(0, 1, 5);
  job.begin_receive(0, 2, 5);
  job.wait(0, "MPI_Waitany", 0, 2);
  job.begin_receive(0, 1, 9); // not waited for
  job.blocked_in_receive(1, 0, 5);
  auto working = job; // rank 2 computes
  EXPECT_EQ(one_look(working).verdict, Verdict::no_deadlock);
  job.blocked_in_receive(2, 0, 5);
  const auto analysis = recorded_looks(job);
  expect_recorded_deadlock(analysis, {0, 1, 2}, {}, Confidence::certain);
  EXPECT_TRUE(finds(analysis, FindingKind::knot));
}

TEST(RecordedVerdict, WhatACallWaitsForBesideTheListsIsUnknown) {
  RecordedJob job(2);
  job.begin_receive(0, 1, 5);
  job.wait(0, "MPI_Waitany", 0, 1);
  Waited& waited = job.world(0).queue(OpClass::receive).operations[0].waited;
  waited.unseen = true;
  job.blocked_in_receive(1, 0, 5);
  EXPECT_EQ(recorded_looks(job).verdict, Verdict::undecided);
  job.rank(0).blocked_in->front().group = 0; // before it has said what it waits for
  waited = Waited();
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::undecided);
}

TEST(RecordedVerdict, WhatStandsStillThoughItsMessageHasComeIsNotExplained) {
  RecordedJob job(2);
  job.begin_send(1, 0, 5);
  job.blocked_in_receive(0, 1, 5);
  job.blocked_in_receive(1, 0, 5);
  auto once = job;
  EXPECT_EQ(one_look(once).verdict, Verdict::no_deadlock);
  const auto analysis = recorded_looks(job);
  EXPECT_EQ(analysis.verdict, Verdict::undecided);
  EXPECT_TRUE(finds(analysis, FindingKind::stuck_transport));
}

TEST(RecordedVerdict, WhatMpiMprobeHoldsMayStillBeWaitedFor) {
  RecordedJob job(2);
  job.blocked_in_send(0, 1, 5, "MPI_Ssend");
  job.received(1, 0, 5);
  Operation taken;
  taken.kind = OpKind::message;
  taken.peer = {false, 0, 0};
  taken.tag.value = 5;
  job.world(1).queue(OpClass::unexpected).operations.push_back(taken);
  job.blocked_in_receive(1, 0, 5); // that message is not for it
  expect_recorded_deadlock(one_look(job), {0, 1}, {}, Confidence::likely);
}

TEST(RecordedVerdict, WhoWasSeenTooEarlyRuns) {
  RecordedJob job(2);
  job.received(0, 1, 5); // which rank 1 sent after it was seen
  job.blocked_in_receive(0, 1, 5);
  job.blocked_in_receive(1, 0, 5);
  EXPECT_EQ(one_look(job).verdict, Verdict::no_deadlock);
}

TEST(RecordedVerdict, ABarrierWaitsForWhoHasNotEnteredIt) {
  RecordedJob job(3);
  job.in_collective(0, "MPI_Barrier", 7);
  job.in_collective(1, "MPI_Barrier", 7);
  job.entered(2, 7);
  job.blocked_in_receive(2, 0, 5);
  const auto analysis = recorded_looks(job);
  expect_recorded_deadlock(analysis, {0, 2}, {1}, Confidence::certain);
  EXPECT_EQ(analysis.waits.front().because, "MPI_Barrier on C1: 2 has not entered it");
}

/// Rank 2 has left it again: it is in no call, and its count says that it was there.
TEST(RecordedVerdict, WhoIsPastACollectiveHasEnteredIt) {
  RecordedJob job(3);
  job.in_collective(0, "MPI_Barrier", 7);
  job.in_collective(1, "MPI_Barrier", 7);
  job.entered(2, 9);
  job.blocked_in_receive(2, 0, 5);
  EXPECT_EQ(one_look(job).verdict, Verdict::no_deadlock);
  job.look_again();
  const auto analysis = analyze(job.dump); // what goes on inside is not visible
  EXPECT_EQ(analysis.verdict, Verdict::undecided);
  EXPECT_TRUE(finds(analysis, FindingKind::unknown_wait));
}

TEST(RecordedVerdict, CountsOfCollectivesBeginAgain) {
  RecordedJob job(2);
  job.in_collective(0, "MPI_Barrier", 0xffffffff).communicator = TargetAddress{0};
  job.entered(0, 0);
  job.blocked_in_receive(1, 0, 5);
  job.entered(1, 0); // has entered it
  EXPECT_EQ(one_look(job).verdict, Verdict::no_deadlock);
  job.entered(1, 0xffffffff); // has not
  EXPECT_EQ(one_look(job).verdict, Verdict::deadlock);
}

TEST(RecordedVerdict, ABroadcastNeedsItsRoot) {
  RecordedJob job(3);
  job.in_collective(1, "MPI_Bcast", 3, 0);
  job.in_collective(2, "MPI_Bcast", 3, 0);
  job.entered(0, 3);
  job.blocked_in_receive(0, 1, 5);
  expect_recorded_deadlock(recorded_looks(job), {0, 1}, {2}, Confidence::certain);
}

/// The root has sent, and may go on; but in a tree rank 1 may be the one who hands it on.
TEST(RecordedVerdict, WhoIsInABroadcastMayWaitForOthersThanTheRoot) {
  RecordedJob job(3);
  job.in_collective(2, "MPI_Bcast", 3, 0);
  job.entered(0, 4);
  job.entered(1, 3);
  job.blocked_in_receive(1, 2, 5); // waits for rank 2; the root computes
  auto once = job;
  expect_recorded_deadlock(one_look(once), {1, 2}, {}, Confidence::possible);
  expect_recorded_deadlock(recorded_looks(job), {1, 2}, {},
                           Confidence::likely); // if the root was in the same one
}

TEST(RecordedVerdict, ARootOfAReductionNeedsAll) {
  RecordedJob job(3);
  job.in_collective(0, "MPI_Reduce", 0, 0);
  job.entered(1, 1);
  job.entered(2, 0);
  job.blocked_in_receive(2, 0, 5);
  job.blocked_in_receive(1, 2, 5);
  expect_recorded_deadlock(recorded_looks(job), {0, 2}, {1}, Confidence::certain);
}

TEST(RecordedVerdict, AScanNeedsTheLowerRanks) {
  RecordedJob job(3);
  job.in_collective(1, "MPI_Scan", 0);
  job.entered(0, 0);
  job.blocked_in_receive(0, 1, 5); // rank 2 computes, and has not come
  expect_recorded_deadlock(recorded_looks(job), {0, 1}, {}, Confidence::certain);
}

TEST(RecordedVerdict, ANonblockingCollectiveIsWaitedForByItsMembers) {
  RecordedJob job(3);
  for (const std::int64_t rank : {0, 1}) {
    RecordedCollective& barrier = job.under_way(rank, "MPI_Ibarrier", 4);
    BlockedCall& call = job.in_call(rank, "MPI_Wait");
    call.group = 100 + static_cast<std::uint32_t>(rank);
    barrier.waited.group = *call.group;
    barrier.waited.count = 1;
    barrier.waited.mode = WaitMode::all;
  }
  job.entered(2, 4);
  job.blocked_in_receive(2, 0, 5);
  auto come = job;
  const auto analysis = recorded_looks(job);
  expect_recorded_deadlock(analysis, {0, 2}, {1}, Confidence::certain);
  EXPECT_EQ(analysis.waits.front().because, "MPI_Wait for MPI_Ibarrier on C1 (waits for 2)");
  come.under_way(2, "MPI_Ibarrier", 4); // and it goes on in every call of MPI
  EXPECT_EQ(one_look(come).verdict, Verdict::no_deadlock);
}

/// One that nobody waits for shares the numbers with the blocking one that rank 0 is in.
TEST(RecordedVerdict, NonblockingCollectivesShareTheNumbers) {
  RecordedJob job(2);
  job.under_way(0, "MPI_Ibarrier", 0);
  job.in_collective(0, "MPI_Barrier", 1);
  job.under_way(1, "MPI_Ibarrier", 0);
  job.blocked_in_receive(1, 0, 5);
  const auto analysis = recorded_looks(job);
  expect_recorded_deadlock(analysis, {0, 1}, {}, Confidence::certain);
  EXPECT_FALSE(finds(analysis, FindingKind::collective_mismatch));
}

TEST(RecordedVerdict, DifferentCollectivesWithOneNumberAreAMismatch) {
  RecordedJob job(2);
  job.in_collective(0, "MPI_Barrier", 5);
  job.in_collective(1, "MPI_Allreduce", 5);
  const auto analysis = recorded_looks(job);
  expect_recorded_deadlock(analysis, {0, 1}, {}, Confidence::certain);
  EXPECT_EQ(messages_of(analysis, FindingKind::collective_mismatch),
            std::vector<std::string>{
                "collective 6 on C1: rank 0 is in MPI_Barrier, and rank 1 in MPI_Allreduce"});
  EXPECT_EQ(analysis.look_at.size(), 1U);
}

TEST(RecordedVerdict, DifferentRootsAreAMismatch) {
  RecordedJob job(2);
  job.in_collective(0, "MPI_Bcast", 5, 1);
  job.in_collective(1, "MPI_Bcast", 5, 0);
  const auto analysis = recorded_looks(job);
  expect_recorded_deadlock(analysis, {0, 1}, {}, Confidence::certain);
  EXPECT_EQ(messages_of(analysis, FindingKind::collective_mismatch),
            std::vector<std::string>{"collective 6 on C1: rank 0 is in MPI_Bcast with root 1, and "
                                     "rank 1 in MPI_Bcast with root 0"});
}

/// Each gathers to itself: a program that passes its own rank as the root.
TEST(RecordedVerdict, ManyDifferentRootsWaitForEachOther) {
  constexpr std::int64_t ranks = 200;
  Ranks everybody;
  RecordedJob job(ranks);
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    job.in_collective(rank, "MPI_Gather", 3, rank);
    everybody.push_back(rank);
  }
  const auto analysis = recorded_looks(job);
  expect_recorded_deadlock(analysis, everybody, {}, Confidence::certain);
  EXPECT_EQ(analysis.waits.front().because, "MPI_Gather on C1: 1-199 have not entered it");
  EXPECT_EQ(analysis.waits[7].because, "MPI_Gather on C1: 0-6,8-199 have not entered it");
  EXPECT_TRUE(finds(analysis, FindingKind::collective_mismatch));
}

/// Lists of who waits for whom would fill the memory. What the last ranks wait for is not known;
/// the others are blocked without them.
TEST(RecordedVerdict, OfTooManyDifferentRootsTheLastAreUnknown) {
  constexpr std::int64_t ranks = 2100;
  RecordedJob job(ranks);
  for (std::int64_t rank = 0; rank < ranks; ++rank)
    job.in_collective(rank, "MPI_Gather", 3, rank);
  const auto analysis = recorded_looks(job);
  EXPECT_EQ(analysis.verdict, Verdict::deadlock);
  EXPECT_TRUE(finds(analysis, FindingKind::unknown_wait));
  EXPECT_TRUE(finds(analysis, FindingKind::collective_mismatch));
}

/// The same of a broadcast, but that one root has not entered it.
TEST(RecordedVerdict, OfManyRootsEachIsWaitedForByThoseWhoNameIt) {
  constexpr std::int64_t ranks = 40;
  RecordedJob job(ranks);
  for (std::int64_t rank = 1; rank < ranks; ++rank)
    job.in_collective(rank, "MPI_Bcast", 3, rank == 5 ? 0 : (rank + 1) % ranks);
  job.entered(0, 3);
  job.blocked_in_receive(0, 5, 17);
  const auto analysis = recorded_looks(job);
  EXPECT_EQ(analysis.verdict, Verdict::deadlock);
  EXPECT_EQ(analysis.waits[5].because, "MPI_Bcast on C1: 0 has not entered it");
  EXPECT_EQ(analysis.waits[7].because, "MPI_Bcast on C1: 8 has not entered it");
}

TEST(RecordedVerdict, MakingACommunicatorWaitsForAll) {
  RecordedJob job(3);
  job.in_collective(0, "MPI_Comm_split", 2);
  job.in_collective(1, "MPI_Comm_split", 2);
  job.entered(2, 2);
  job.blocked_in_receive(2, 0, 5);
  expect_recorded_deadlock(recorded_looks(job), {0, 2}, {1}, Confidence::certain);
}

/// Ranks 0 and 1 write to a file that 2 does not write to: it receives from 0. `innermost`: of the
/// stacks of 0 and 1.
RecordedJob writing_without_one(const std::string& innermost) {
  RecordedJob job(3);
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    job.in_collective(rank, "MPI_File_write_at_all", 4);
    job.rank(rank).stacks->front().frames = {
        StackFrame{.address = {}, .function = innermost},
        StackFrame{.address = {}, .function = "MPI_File_write_at_all"}};
  }
  job.entered(2, 4);
  job.blocked_in_receive(2, 0, 17);
  return job;
}

TEST(RecordedVerdict, ACollectiveOfAFileMayWaitForWhoHasNotEnteredIt) {
  RecordedJob job = writing_without_one("opal_progress");
  auto once = job;
  EXPECT_NE(one_look(once).confidence, Confidence::certain);
  const auto analysis = recorded_looks(job);
  expect_recorded_deadlock(analysis, {0, 2}, {1}, Confidence::likely);
  EXPECT_EQ(analysis.waits.front().because, "MPI_File_write_at_all on C1: 2 has not entered it");
}

TEST(RecordedVerdict, WhoWritesToAFileMayWaitForTheDisk) {
  for (const char* innermost : {"__GI___pwrite64", "fsync", "__libc_pread64"}) {
    RecordedJob job = writing_without_one(innermost);
    for (std::int64_t rank = 0; rank < 2; ++rank)
      job.rank(rank).stacks->front().frames.front().module = "/usr/lib/libc.so.6";
    EXPECT_EQ(recorded_looks(job).verdict, Verdict::undecided) << innermost;
  }
  RecordedJob job = writing_without_one("opal_progress");
  for (RankDump& rank : job.dump.ranks)
    rank.stacks.reset();
  EXPECT_EQ(recorded_looks(job).verdict, Verdict::undecided);
}

TEST(RecordedVerdict, AFenceIsACollectiveOfItsWindow) {
  RecordedJob job(2);
  job.in_collective(0, "MPI_Win_fence", 4);
  job.entered(1, 4);
  job.blocked_in_receive(1, 0, 17);
  expect_recorded_deadlock(recorded_looks(job), {0, 1}, {}, Confidence::likely);
}

/// Rank 1 has no recorder: nobody knows what it has sent or entered.
TEST(RecordedVerdict, SomeProcessesWithoutRecordersAreUnknown) {
  RecordedJob job(3);
  job.blocked_in_receive(0, 1, 5);
  job.in_collective(2, "MPI_Barrier", 0);
  job.entered(0, 1);
  job.world(1).recorded.reset();
  job.in_call(1, "MPI_Recv");
  const auto analysis = recorded_looks(job);
  EXPECT_EQ(analysis.verdict, Verdict::undecided);
  job.outside(1);
  EXPECT_NE(one_look(job).verdict, Verdict::deadlock);
}

/// Nobody knows what rank 1 had sent. But whatever it was has come since.
TEST(RecordedVerdict, AReceiveFromWhoWasGoneInBothLooksIsNoGuess) {
  const auto leave = [](RankDump& rank) {
    rank.communicators.clear();
    rank.blocked_in.reset();
    rank.stacks.reset();
    rank.mpi.reset();
    rank.status = RankStatus::failed;
    rank.errors = {{"attach.no_such_process", RankError::Level::error, "gone", ""}};
  };
  RecordedJob job(3);
  job.blocked_in_receive(0, 1, 5);
  job.blocked_in_receive(2, 0, 5);
  auto late = job;
  auto finalizing = job;
  leave(job.rank(1));
  auto moved = job;
  auto suspended = job;
  expect_recorded_deadlock(recorded_looks(job), {0}, {2}, Confidence::likely);

  moved.settle();
  moved.look_again();
  moved.channel(0, 2, 7).received = 1; // between the looks
  EXPECT_NE(analyze(moved.dump).confidence, Confidence::likely);

  late.settle();
  late.look_again();
  leave(late.rank(1));
  late.settle();
  EXPECT_NE(analyze(late.dump).confidence, Confidence::likely);

  suspended.rank(0).process_state = "T"; // it takes nothing in
  EXPECT_NE(recorded_looks(suspended).confidence, Confidence::likely);

  finalizing.in_call(1, "MPI_Finalize");
  finalizing.world(1).recorded->whole = false; // what it has sent may still be coming
  finalizing.settle();
  finalizing.look_again();
  leave(finalizing.rank(1));
  finalizing.settle();
  EXPECT_NE(analyze(finalizing.dump).confidence, Confidence::likely);
}

/// It may have received the message before: its counts are not whole.
TEST(RecordedVerdict, ASendToWhoIsInFinalizeIsAGuessWhereNobodyCountedWhatItReceived) {
  RecordedJob job(2);
  job.blocked_in_send(0, 1, 5);
  job.in_call(1, "MPI_Finalize");
  auto counted = job;
  expect_recorded_deadlock(recorded_looks(counted), {0}, {1}, Confidence::certain);
  job.world(1).recorded->whole = false;
  EXPECT_EQ(recorded_looks(job).confidence, Confidence::possible);
}

/// Rank 2 computes, and is what rank 0 waits for.
TEST(RecordedVerdict, WhatAFilterHidesMayBeWaitedFor) {
  for (const char* call : {"MPI_Waitany", "MPI_Waitall"}) {
    RecordedJob job(3);
    job.begin_receive(0, 1, 1);
    job.begin_receive(0, 2, 2);
    job.wait(0, call, 0, 2);
    job.blocked_in_receive(1, 0, 5);
    const bool all = std::string(call) == "MPI_Waitall";
    EXPECT_EQ(one_look(job).verdict, all ? Verdict::deadlock : Verdict::no_deadlock);
    job.world(0).queue(OpClass::receive).operations.truncate(1);
    job.dump.filters.tags = {1};
    EXPECT_EQ(analyze(job.dump).verdict, all ? Verdict::deadlock : Verdict::undecided) << call;
    if (all) { // what is shown may be complete, and what is hidden may not be
      RankDump& gone = job.rank(1);
      gone = RankDump{};
      gone.rank = 1;
      gone.status = RankStatus::failed;
      gone.errors = {{"attach.no_such_process", RankError::Level::error, "gone", ""}};
      EXPECT_NE(recorded_looks(job).confidence, Confidence::likely);
    }
  }
}

/// Two that play ping-pong, where the counts of a sender are not known: its send has met the
/// receive, or it is over.
TEST(RecordedVerdict, ASendAndTheReceiveThatItMeetsAreNoCycle) {
  for (const char* call : {"MPI_Send", "MPI_Ssend"})
    for (const std::int64_t uncounted : {0, 1}) {
      RecordedJob job(2);
      job.blocked_in_receive(0, 1, 17);
      job.blocked_in_send(1, 0, 17, call);
      job.world(uncounted).recorded->whole = false;
      EXPECT_NE(one_look(job).verdict, Verdict::deadlock) << call << uncounted;
      EXPECT_NE(recorded_looks(job).verdict, Verdict::deadlock) << call << uncounted;
    }
  RecordedJob other(2);
  other.blocked_in_receive(0, 1, 17);
  other.blocked_in_send(1, 0, 18);
  other.world(1).recorded->whole = false;
  EXPECT_EQ(one_look(other).confidence, Confidence::possible); // of another tag
}

TEST(RecordedVerdict, MessagesThatNobodyReceivesAreNamed) {
  RecordedJob job(2);
  job.sent(1, 0, 5);
  job.received(0, 1, 5);
  job.sent(1, 0, 5);
  job.sent(1, 0, 5);
  job.in_collective(0, "MPI_Barrier", 0);
  job.blocked_in_receive(1, 0, 9);
  const auto analysis = recorded_looks(job);
  EXPECT_EQ(messages_of(analysis, FindingKind::orphan_unexpected),
            std::vector<std::string>{
                "rank 0 has 2 messages from rank 1 tag 5 on C1 that it does not receive"});
}

/// Between the stops of two ranks any number of messages may be sent: none of them is late.
TEST(RecordedVerdict, WhatMayHaveBeenSentAfterTheReceiversStopIsNoBacklog) {
  RecordedJob job(2);
  job.sent_long_ago(1, 0, 5, 1000);
  job.blocked_in_receive(0, 1, 9);
  job.rank(0).stopped_at = "2026-01-02T03:04:05.000Z";
  job.rank(1).stopped_at = "2026-01-02T03:04:04.000Z";
  EXPECT_EQ(messages_of(one_look(job), FindingKind::backlog).size(), 1U);
  job.rank(1).stopped_at = "2026-01-02T03:04:06.000Z";
  EXPECT_EQ(messages_of(one_look(job), FindingKind::backlog).size(), 0U);
}

/// Recording was off for a while on rank 1.
TEST(RecordedVerdict, GapsLeaveItOpen) {
  RecordedJob job(2);
  job.blocked_in_receive(0, 1, 5);
  job.blocked_in_receive(1, 0, 5);
  job.world(1).recorded->whole = false;
  const auto analysis = recorded_looks(job);
  EXPECT_NE(analysis.confidence, Confidence::certain);
  EXPECT_TRUE(analysis.verdict == Verdict::undecided ||
              analysis.confidence == Confidence::possible);
}

} // namespace
} // namespace mqbridge
