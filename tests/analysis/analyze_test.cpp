#include "host/analysis/analyze.h"
#include "tests/analysis/job_on_paper.h"

#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using test::JobOnPaper;
using test::ranks_of;
using Ranks = std::vector<std::int64_t>;

bool has(const Analysis& analysis, FindingKind kind) {
  return std::ranges::any_of(analysis.findings,
                             [&](const Finding& finding) { return finding.kind == kind; });
}

void expect_deadlock(const Analysis& analysis, const Ranks& core, const Ranks& blocked = {}) {
  EXPECT_EQ(analysis.verdict, Verdict::deadlock);
  EXPECT_EQ(ranks_of(analysis.core), core);
  EXPECT_EQ(ranks_of(analysis.blocked), blocked);
}

/// Two ranks that receive from each other, and one that receives from the first.
JobOnPaper two_and_one() {
  JobOnPaper job(3);
  job.blocked_receive(0, 1);
  job.blocked_receive(1, 0);
  job.blocked_receive(2, 0);
  return job;
}

/// Inside of a barrier: it waits for a message of this rank.
void in_barrier(JobOnPaper& job, int rank, std::int64_t from, std::uint64_t id = 0) {
  Operation& inside = job.receive(rank, from, -16, id);
  inside.collective = Collective::barrier;
  job.in_call(rank, "MPI_Barrier").communicator = TargetAddress{id};
}

TEST(Analyze, ACycleIsTheCoreAndWhoWaitsForItIsBlocked) {
  const auto analysis = analyze(two_and_one().dump);
  expect_deadlock(analysis, {0, 1}, {2});
  EXPECT_EQ(analysis.confidence, Confidence::likely);
  EXPECT_TRUE(has(analysis, FindingKind::cycle));
  ASSERT_EQ(analysis.waits.size(), 3U);
  EXPECT_EQ(analysis.waits[2].because, "MPI_Recv from 0 tag 17 on C1");
  EXPECT_EQ(analysis.waits[2].place, "halo.c:212");
}

TEST(Analyze, TwoLooksAtAllThatThereIsMakeItCertain) {
  auto job = two_and_one();
  job.look_again(2);
  const auto analysis = analyze(job.dump);
  expect_deadlock(analysis, {0, 1}, {2});
  EXPECT_EQ(analysis.confidence, Confidence::certain);
  EXPECT_EQ(analysis.looks, 2);
  EXPECT_EQ(analysis.unchanged_ms, 2000);
  EXPECT_EQ(analysis.not_visible, std::vector<std::string>{});
}

TEST(Analyze, AMessageInFlightEndsTheWait) {
  auto job = two_and_one();
  job.count(1, 0, 5, 4);
  const auto analysis = analyze(job.dump);
  EXPECT_EQ(analysis.verdict, Verdict::no_deadlock);
}

TEST(Analyze, CountersBeginAgain) {
  auto job = two_and_one();
  job.count(1, 0, 65536, 65535);
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::no_deadlock);
  job.count(1, 0, 65536 + 3, 3);
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::deadlock);
}

TEST(Analyze, AChannelThatMovedBetweenTheLooksIsNoWait) {
  auto job = two_and_one();
  job.count(1, 0, 4, 4);
  job.look_again();
  job.count(1, 0, 5, 5);
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::no_deadlock);
}

TEST(Analyze, WhatCameToStandBetweenTheLooksIsSaidToBeNotKnown) {
  auto job = two_and_one();
  job.count(1, 0, 4, 4);
  job.look_again();
  job.count(1, 0, 5, 5);
  const auto analysis = analyze(job.dump);
  EXPECT_EQ(analysis.confidence, Confidence::possible);
  ASSERT_FALSE(analysis.not_visible.empty());
  EXPECT_EQ(analysis.not_visible.back().find("whether ranks 0-2 can go on"), 0U);
}

TEST(Analyze, WhoHasSentLessThanOthersHaveCountedHasGoneOnSince) {
  JobOnPaper job(3);
  job.blocked_receive(0, 1);
  job.blocked_receive(1, 2);
  job.blocked_receive(2, 1);
  expect_deadlock(analyze(job.dump), {1, 2}, {0});
  job.count(1, 0, 3, 3);
  job.count(2, 0, 3, 4); // rank 2 was stopped before it sent the fourth
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::no_deadlock);
}

TEST(Analyze, ARequestThatNoListShowsIsNotTheOneThatIsPending) {
  JobOnPaper job(2);
  job.receive(0, 1, 5); // beside what MPI_Wait waits for
  job.in_call(0, "MPI_Wait");
  job.blocked_receive(1, 0);
  job.look_again();
  EXPECT_EQ(analyze(job.dump).confidence, Confidence::possible);
  job.in_call(0, "MPI_Waitall"); // would be marked
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::undecided);
}

TEST(Analyze, IsNotCertainByLayoutsOfAnotherBuild) {
  auto job = two_and_one();
  job.look_again();
  job.dump.ranks[1].errors.push_back({"types.other_build", RankError::Level::warning, "", ""});
  const auto analysis = analyze(job.dump);
  expect_deadlock(analysis, {0, 1}, {2});
  EXPECT_EQ(analysis.confidence, Confidence::likely);
  EXPECT_EQ(analysis.not_visible,
            std::vector<std::string>{"the very layouts of the MPI of rank 1"});
}

TEST(Analyze, IsCertainOnlyWhereEachRankWasSeenTwice) {
  auto job = two_and_one();
  job.look_again();
  job.dump.earlier.front().ranks.pop_back();
  const auto analysis = analyze(job.dump);
  EXPECT_EQ(analysis.confidence, Confidence::likely);
  EXPECT_EQ(analysis.not_visible,
            std::vector<std::string>{"what moves: there is one look of rank 2"});
}

TEST(Analyze, NobodySendsToWhoIsAlone) {
  JobOnPaper job(2);
  Communicator self = job.world(0);
  self.id = TargetAddress{9};
  self.key = "C9";
  self.size = 1;
  self.group = RankList{0};
  job.rank(0).communicators.push_back(self);
  job.blocked_receive(0, std::nullopt, 17, 9);
  job.blocked_receive(1, 0);
  expect_deadlock(analyze(job.dump), {0}, {1});
  EXPECT_TRUE(has(analyze(job.dump), FindingKind::cycle));
}

TEST(Analyze, MessagesOfANonblockingCollectiveAreNoOtherCollective) {
  JobOnPaper job(3);
  in_barrier(job, 0, 1);
  job.blocked_receive(1, 0);
  job.message(0, 1, -27).collective = Collective::nonblocking;
  EXPECT_FALSE(has(analyze(job.dump), FindingKind::collective_mismatch));
  job.message(0, 1, -12).collective = Collective::allreduce;
  EXPECT_TRUE(has(analyze(job.dump), FindingKind::collective_mismatch));
}

/// Rank 1 is waited for by nobody's message, and yet its barrier is half of the cause.
TEST(Analyze, BarriersInAnotherOrderAreOneFinding) {
  JobOnPaper job(3);
  job.add_communicator("copy", 7);
  in_barrier(job, 0, 2);
  in_barrier(job, 1, 2, 7);
  in_barrier(job, 2, 0, 7);
  job.look_again();
  const auto analysis = analyze(job.dump);
  expect_deadlock(analysis, {0, 1, 2}, {});
  ASSERT_TRUE(has(analysis, FindingKind::collective_order));
  ASSERT_FALSE(analysis.look_at.empty());
  EXPECT_EQ(
      analysis.look_at.front(),
      "rank 0 is in MPI_Barrier on C1, ranks 1,2 are in MPI_Barrier on C8 \"copy\"; each waits for "
      "the other");
}

/// All ranks are in one barrier of which one has not come: nothing is in another order.
TEST(Analyze, OneBarrierIsInNoOtherOrder) {
  JobOnPaper job(3);
  in_barrier(job, 0, 2);
  in_barrier(job, 1, 2);
  job.blocked_receive(2, 0);
  EXPECT_FALSE(has(analyze(job.dump), FindingKind::collective_order));
}

TEST(Analyze, WhatIsStuckInTheTransportIsUndecided) {
  auto job = two_and_one();
  job.count(1, 0, 5, 4);
  job.look_again();
  const auto analysis = analyze(job.dump);
  EXPECT_EQ(analysis.verdict, Verdict::undecided);
  EXPECT_EQ(analysis.confidence, std::nullopt);
  EXPECT_TRUE(has(analysis, FindingKind::stuck_transport));
}

TEST(Analyze, WithoutCountersADeadlockIsPossible) {
  auto job = two_and_one();
  for (RankDump& rank : job.dump.ranks)
    rank.communicators.front().counters.reset();
  job.look_again(2); // a job that repeats the same exchange looks so, too
  const auto analysis = analyze(job.dump);
  expect_deadlock(analysis, {0, 1}, {2});
  EXPECT_EQ(analysis.confidence, Confidence::possible);
  EXPECT_EQ(analysis.unchanged_ms, std::nullopt);
}

/// It waits for the same again, but its stack is another one.
TEST(Analyze, WithoutCountersAProgramThatHasGoneOnShowsThatMessagesCome) {
  for (const bool counted : {false, true}) {
    auto job = two_and_one();
    for (RankDump& rank : job.dump.ranks) {
      rank.blocked_in->front().program_state = 7;
      if (!counted)
        rank.communicators.front().counters.reset();
    }
    job.look_again(2);
    auto known_once = job;
    known_once.dump.earlier.front().ranks[1].blocked_in->front().program_state.reset();
    for (const JobOnPaper* each : {&job, &known_once})
      expect_deadlock(analyze(each->dump), {0, 1}, {2});
    auto completed = job; // libfabric has completed something
    job.rank(1).blocked_in->front().program_state = 8;
    completed.dump.earlier.front().ranks[1].mpi->waits_state = 5;
    completed.rank(1).mpi->waits_state = 6;
    for (const JobOnPaper* each : {&job, &completed}) {
      const auto analysis = analyze(each->dump);
      EXPECT_EQ(analysis.verdict, counted ? Verdict::deadlock : Verdict::no_deadlock);
      EXPECT_EQ(analysis.confidence, counted ? Confidence::likely : Confidence::possible);
    }
  }
}

/// Over UCX no messages are counted, but receives have numbers.
TEST(Analyze, WithoutCountersANewReceiveShowsThatMessagesCome) {
  for (const bool from_anybody : {false, true}) {
    JobOnPaper job(2);
    for (int rank = 0; rank < 2; ++rank) {
      job.blocked_receive(rank, from_anybody ? std::nullopt : std::optional(1 - rank));
      job.world(rank).counters.reset();
      job.world(rank).queue(OpClass::receive).operations.front().sequence = 5;
    }
    job.look_again();
    const auto standing = analyze(job.dump);
    expect_deadlock(standing, {0, 1});
    EXPECT_EQ(standing.confidence, from_anybody ? Confidence::possible : Confidence::likely);
    auto suspended = job; // what has come to it waits outside
    suspended.rank(0).process_state = "T";
    EXPECT_EQ(analyze(suspended.dump).verdict, Verdict::undecided);
    auto held = job; // by a debugger: the same
    held.rank(0).process_state = "t";
    held.dump.earlier.back().ranks.front().process_state = "t";
    const auto beside_debugger = analyze(held.dump);
    EXPECT_EQ(beside_debugger.verdict, Verdict::undecided);
    EXPECT_EQ(beside_debugger.unchanged_ms, std::nullopt);
    EXPECT_TRUE(std::ranges::any_of(beside_debugger.findings, [](const Finding& finding) {
      return finding.kind == FindingKind::suspended;
    }));
    job.world(0).queue(OpClass::receive).operations.front().sequence = 6;
    const auto moving = analyze(job.dump);
    EXPECT_EQ(moving.verdict, Verdict::no_deadlock);
    EXPECT_EQ(moving.confidence, Confidence::possible);
  }
}

TEST(Analyze, OneThatComputesIsTheStraggler) {
  JobOnPaper job(3);
  job.blocked_receive(0, 1);
  job.blocked_receive(1, 2);
  const auto analysis = analyze(job.dump);
  EXPECT_EQ(analysis.verdict, Verdict::no_deadlock);
  EXPECT_TRUE(has(analysis, FindingKind::straggler));
}

TEST(Analyze, ARankThatWasNotDumpedIsUnknownAndNotGone) {
  auto job = two_and_one();
  job.dump.ranks.erase(job.dump.ranks.begin() + 1);
  const auto analysis = analyze(job.dump);
  EXPECT_EQ(analysis.verdict, Verdict::undecided);
  EXPECT_TRUE(has(analysis, FindingKind::missing_partner));
  ASSERT_FALSE(analysis.not_visible.empty());
  EXPECT_EQ(analysis.not_visible.front(), "what was not dumped of rank 1");
}

TEST(Analyze, AReceiveFromAnybodyNeedsOneThatGoesOn) {
  JobOnPaper job(3);
  for (int rank = 0; rank < 3; ++rank)
    job.blocked_receive(rank, std::nullopt);
  expect_deadlock(analyze(job.dump), {0, 1, 2});
  EXPECT_TRUE(has(analyze(job.dump), FindingKind::knot));
  job.outside(2);
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::no_deadlock);
}

TEST(Analyze, ASendWaitsUntilItsMessageHasMetAReceive) {
  JobOnPaper job(2);
  for (int rank = 0; rank < 2; ++rank) {
    const auto request = job.send(rank, 1 - rank, 5).request;
    BlockedCall& call = job.in_call(rank, "MPI_Ssend");
    call.request = request;
    call.request_unique = true;
  }
  expect_deadlock(analyze(job.dump), {0, 1});
  job.world(1).queue(OpClass::unexpected) = {
      QueueState::available, QueueReason::none, {}, 0, TruncatedBy::nothing, {}};
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::no_deadlock); // it is being transferred
  job.world(1).queue(OpClass::unexpected).total = 3;          // there are more than are shown
  EXPECT_EQ(analyze(job.dump).confidence, Confidence::possible);
}

TEST(Analyze, AWaitIsForAListedRequestWhereTheProcessHasMadeNoOthers) {
  JobOnPaper job(2);
  for (int rank = 0; rank < 2; ++rank) {
    job.blocked_receive(rank, 1 - rank);
    job.rank(rank).blocked_in->front().call = "MPI_Wait";
  }
  job.look_again();
  const auto with = [&](std::optional<bool> unlisted) {
    for (int rank = 0; rank < 2; ++rank)
      job.rank(rank).mpi->unlisted_requests = unlisted;
    const auto analysis = analyze(job.dump);
    EXPECT_EQ(analysis.verdict, Verdict::deadlock);
    return analysis.confidence;
  };
  // The MPI's functions keep this request.
  EXPECT_EQ(with(std::nullopt), Confidence::certain);
  EXPECT_EQ(with(true), Confidence::certain);
  EXPECT_EQ(with(false), Confidence::certain);
  const auto each_call = [&](auto change) {
    for (auto* ranks : {&job.dump.ranks, &job.dump.earlier.front().ranks})
      for (RankDump& rank : *ranks)
        change(rank.blocked_in->front());
  };
  // It may be left over on the stack.
  each_call([](BlockedCall& call) { call.request_unique.reset(); });
  EXPECT_EQ(with(std::nullopt), Confidence::likely);
  EXPECT_EQ(with(true), Confidence::likely);
  EXPECT_EQ(with(false), Confidence::certain);
  // Its stack does not tell the request, but there is only one.
  each_call([](BlockedCall& call) { call.request.reset(); });
  EXPECT_EQ(with(std::nullopt), Confidence::possible);
  EXPECT_EQ(with(false), Confidence::certain);
  job.receive(0, 1, 99); // there are two
  EXPECT_EQ(with(false), Confidence::possible);
}

TEST(Analyze, AWaitMayBeForAnotherListedRequestThanTheOneOnTheStack) {
  JobOnPaper job(2);
  for (int rank = 0; rank < 2; ++rank) {
    job.blocked_receive(rank, 1 - rank);
    job.rank(rank).blocked_in->front().call = "MPI_Wait";
    job.rank(rank).blocked_in->front().request_unique.reset();
    job.rank(rank).mpi->unlisted_requests = false;
  }
  job.receive(0, 1, 99);
  job.look_again();
  expect_deadlock(analyze(job.dump), {0, 1});
  EXPECT_EQ(analyze(job.dump).confidence, Confidence::likely);
}

TEST(Analyze, ALoopThatSleepsAndCallsMpiInBetweenPollsForWhatIsPending) {
  JobOnPaper job(3);
  for (int rank = 0; rank < 3; ++rank) {
    job.receive(rank, (rank + 1) % 3, 17);
    job.outside(rank, "clock_nanosleep");
    job.rank(rank).mpi->progress = 1;
  }
  job.look_again();
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::no_deadlock); // they do not call MPI
  for (int rank = 0; rank < 3; ++rank)
    job.rank(rank).mpi->progress = 2;
  const auto analysis = analyze(job.dump);
  // What ends the loop may be no message: then they send.
  EXPECT_EQ(analysis.verdict, Verdict::undecided);
  EXPECT_EQ(analysis.unchanged_ms, 2000);
  EXPECT_TRUE(has(analysis, FindingKind::polling));
  EXPECT_TRUE(has(analysis, FindingKind::unknown_wait));
  EXPECT_THAT(analysis.look_at,
              testing::Contains("the main threads of 0 -> 1 -> 2 -> 0 wait for each other; the "
                                "polling loop of ranks 0-2 could still send"));
  EXPECT_THAT(analysis.not_visible,
              testing::IsSupersetOf({"later calls of MPI by the polling loop",
                                     "whether the loop that sleeps waits for its requests alone"}));
  EXPECT_EQ(analysis.waits.front().because,
            "a loop around a sleep for 1 receive from 1 tag 17 on C1");
  EXPECT_EQ(analysis.waits.front().thread, std::to_string(*job.rank(0).pid));

  auto another = job; // one of them was seen in the call
  another.dump.earlier.front().ranks[2].blocked_in->front().call = "MPI_Test";
  another.rank(2).mpi->progress.reset();
  EXPECT_EQ(analyze(another.dump).verdict, Verdict::undecided);
  another = job; // of an MPI that does not count its calls
  for (int rank = 0; rank < 3; ++rank) {
    another.rank(rank).mpi->progress.reset();
    another.dump.earlier.front().ranks[static_cast<std::size_t>(rank)].mpi->progress.reset();
  }
  EXPECT_EQ(analyze(another.dump).verdict, Verdict::undecided);
  EXPECT_THAT(analyze(another.dump).not_visible,
              testing::Contains(testing::HasSubstr("whether it polls between its sleeps")));
  another = job; // nobody knows where one of them sleeps
  another.rank(2).blocked_in->front().function.reset();
  another.dump.earlier.front().ranks[2].blocked_in->front().function.reset();
  EXPECT_EQ(analyze(another.dump).verdict, Verdict::no_deadlock);
  another = job; // one of them sleeps in another line
  another.rank(2).blocked_in->front().line = 7;
  EXPECT_EQ(analyze(another.dump).verdict, Verdict::no_deadlock);
  another = job; // one of them sleeps elsewhere
  another.rank(2).blocked_in->front().function = "elsewhere";
  EXPECT_EQ(analyze(another.dump).verdict, Verdict::no_deadlock);
  another = job; // one of them computes
  another.outside(2);
  EXPECT_EQ(analyze(another.dump).verdict, Verdict::no_deadlock);
  another = job; // a message came
  another.count(1, 0, 1, 1);
  EXPECT_EQ(analyze(another.dump).verdict, Verdict::no_deadlock);
  another = job; // other threads may call MPI
  another.rank(2).mpi->thread_level = ThreadLevel::multiple;
  EXPECT_EQ(analyze(another.dump).verdict, Verdict::no_deadlock);
}

TEST(Analyze, WhatIsLeftOfACallWhoseWaitsAreUnknownIsACollectiveInsideOfIt) {
  JobOnPaper job(3);
  in_barrier(job, 0, 1);
  job.rank(0).blocked_in->front().call = "MPI_Win_fence";
  job.blocked_receive(1, 0);
  expect_deadlock(analyze(job.dump), {0, 1});
  job.rank(0).mpi->thread_level = ThreadLevel::multiple; // it may be that of another thread
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::undecided);
}

TEST(Analyze, CollectivesOfAFileInAnotherOrderAreNamed) {
  JobOnPaper job(3);
  for (int rank = 0; rank < 3; ++rank) {
    in_barrier(job, rank, (rank + 1) % 3);
    job.rank(rank).blocked_in->front().call = rank == 2 ? "MPI_File_close" : "MPI_File_set_size";
  }
  const auto analysis = analyze(job.dump);
  expect_deadlock(analysis, {0, 1, 2});
  ASSERT_TRUE(has(analysis, FindingKind::collective_order));
  EXPECT_THAT(analysis.look_at, testing::Contains(testing::HasSubstr("MPI_File_close on C1")));
}

TEST(Analyze, WhatHasMetItsMessageComesByItself) {
  auto job = two_and_one();
  job.world(0).queue(OpClass::receive).operations.back().status = OpStatus::matched;
  job.rank(0).blocked_in->front().call = "MPI_Wait";
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::no_deadlock);
}

TEST(Analyze, ACallWhoseRequestIsDoneReturns) {
  auto job = two_and_one();
  job.receive(0, 2, 5); // posted for later
  job.world(0).queue(OpClass::receive).operations.front().status = OpStatus::complete;
  job.blocked_receive(2, 0);
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::no_deadlock);
}

TEST(Analyze, AnMpiThatHidesBlockingSendsProvesNothingByAnEmptyQueue) {
  auto job = two_and_one();
  job.in_call(1, "MPI_Send");
  job.world(1).queue(OpClass::receive) = {
      QueueState::available, QueueReason::none, {}, 0, TruncatedBy::nothing, {}};
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::no_deadlock);
  for (RankDump& rank : job.dump.ranks)
    rank.communicators.front().counters.reset();
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::undecided);
}

TEST(Analyze, ByteOrdersAndWordSizesOfTheRanksMayDiffer) {
  auto job = two_and_one();
  job.rank(0).platform = Platform{};
  job.rank(0).platform->byte_order = ByteOrder::big;
  job.rank(0).platform->pointer_size = 4;
  job.rank(1).platform = Platform{};
  expect_deadlock(analyze(job.dump), {0, 1}, {2});
}

TEST(Analyze, WhoIsInFinalizeHelpsNobodyAndWaitsForAll) {
  JobOnPaper job(3);
  job.blocked_receive(0, 1);
  job.in_call(1, "MPI_Finalize");
  job.in_call(2, "MPI_Finalize");
  const auto analysis = analyze(job.dump);
  expect_deadlock(analysis, {0}, {1, 2});
  EXPECT_TRUE(has(analysis, FindingKind::partner_finalized));
  job.in_call(0, "MPI_Finalize");
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::no_deadlock);
}

RankError no_such_process() {
  return {"attach.no_such_process", RankError::Level::error, "gone", ""};
}

TEST(Analyze, AProcessOfALaunchersListThatIsNotThereHasExited) {
  auto job = two_and_one();
  RankDump& gone = job.rank(1);
  gone.communicators.clear();
  gone.blocked_in.reset();
  gone.stacks.reset();
  gone.mpi.reset();
  gone.status = RankStatus::failed;
  gone.errors = {no_such_process()};
  // It may have sent something just before.
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::undecided);
  job.look_again();
  expect_deadlock(analyze(job.dump), {0}, {2});
  EXPECT_EQ(analyze(job.dump).confidence, Confidence::likely);
  EXPECT_TRUE(has(analyze(job.dump), FindingKind::partner_gone));
  gone.rank_source = RankSource::given; // a user may err
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::undecided);
}

TEST(Analyze, WhatAGoneProcessWasSendingDoesNotComeAnyMore) {
  auto job = two_and_one();
  job.world(0).queue(OpClass::receive).operations.back().status = OpStatus::matched;
  job.rank(1).communicators.clear();
  job.rank(1).blocked_in.reset();
  job.rank(1).process_state = "Z";
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::undecided);
  job.look_again();
  expect_deadlock(analyze(job.dump), {0}, {2});
}

TEST(Analyze, WhoHasExitedBetweenTheLooksIsNotBlockedAnyMore) {
  auto job = two_and_one();
  job.rank(1).errors = {{"twice.exited", RankError::Level::warning, "it has ended", ""}};
  expect_deadlock(analyze(job.dump), {0}, {2});
  for (RankDump& rank : job.dump.ranks)
    rank.errors = {{"twice.exited", RankError::Level::warning, "it has ended", ""}};
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::no_deadlock);
}

TEST(Analyze, AMessageThatMprobeHoldsIsNotReceived) {
  JobOnPaper job(2);
  const auto request = job.send(0, 1, 1).request;
  BlockedCall& call = job.in_call(0, "MPI_Ssend");
  call.request = request;
  call.request_unique = true;
  job.world(1).queue(OpClass::unexpected) = {
      QueueState::available, QueueReason::none, {}, 0, TruncatedBy::nothing, {}};
  job.blocked_receive(1, 0, 2);
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::no_deadlock);
  Operation& held = job.receive(1, 0, 1);
  held.kind = OpKind::message;
  held.status = OpStatus::matched;
  held.actual = ActualMessage{0, 0, 1, 8};
  expect_deadlock(analyze(job.dump), {0, 1});
}

TEST(Analyze, WhatAFilterHidesMayBeWaitedFor) {
  JobOnPaper job(3);
  for (const std::int64_t source : {1, 2}) {
    Operation& receive = job.receive(0, source, source);
    receive.waited.group = 1;
    receive.waited.count = 1;
  }
  job.in_call(0, "MPI_Waitany");
  job.blocked_receive(1, 0);
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::no_deadlock);
  job.world(0).queue(OpClass::receive).operations.truncate(1); // rank 2's is left out
  job.dump.filters.tags = {1};
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::undecided);
}

TEST(Analyze, WaitallNeedsAllAndWaitanyOne) {
  JobOnPaper job(3);
  for (const std::int64_t source : {1, 2}) {
    Operation& receive = job.receive(0, source, 17);
    receive.waited.group = 1;
    receive.waited.count = 2;
  }
  job.blocked_receive(1, 0);
  job.in_call(0, "MPI_Waitall");
  expect_deadlock(analyze(job.dump), {0, 1});
  job.in_call(0, "MPI_Waitany");
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::no_deadlock); // rank 2 computes
}

TEST(Analyze, ACallForOneOperationIsNeverForAnyOfThem) {
  JobOnPaper job(3);
  job.receive(0, 1, 17);
  job.receive(0, 2, 40);
  job.blocked_receive(1, 0);
  job.blocked_receive(2, 0);
  const auto because = [&](const char* call) {
    job.in_call(0, call);
    return analyze(job.dump).waits.front().because;
  };
  EXPECT_EQ(
      because("MPI_Recv"),
      "MPI_Recv for one of these 2 (which one is not known): 1 receive from 1 tag 17 on C1, 1 "
      "receive from 2 tag 40 on C1");
  EXPECT_EQ(
      because("MPI_Wait"),
      "MPI_Wait for one of these 2 (which one is not known): 1 receive from 1 tag 17 on C1, 1 "
      "receive from 2 tag 40 on C1");
}

TEST(Analyze, AWaitallForMoreThanIsSeenIsUnknown) {
  JobOnPaper job(2);
  Operation& receive = job.receive(0, 1, 17);
  receive.waited.group = 1;
  receive.waited.count = 2;
  receive.waited.unseen = true;
  job.in_call(0, "MPI_Waitall");
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::undecided);
  job.blocked_receive(1, 0); // what is seen is enough
  expect_deadlock(analyze(job.dump), {0, 1});
}

TEST(Analyze, OneBlockedCallBlocksAProcessUnlessItHasSeveralThreadsInMpi) {
  auto job = two_and_one();
  BlockedCall working{.thread = 5000};
  working.function = "compute";
  job.rank(0).blocked_in->push_back(working);
  job.rank(0).stacks->push_back({.thread = 5000});
  expect_deadlock(analyze(job.dump), {0, 1}, {2});
  job.rank(0).mpi->thread_level = ThreadLevel::multiple;
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::no_deadlock);
}

TEST(Analyze, AThreadThatWaitsForALockBesideThreadsInMpiWaitsForThese) {
  auto job = two_and_one();
  job.rank(0).mpi->thread_level = ThreadLevel::multiple;
  BlockedCall joining{.thread = 5000};
  joining.system_call = "futex";
  job.rank(0).blocked_in->push_back(joining);
  job.rank(0).stacks->push_back({.thread = 5000});
  expect_deadlock(analyze(job.dump), {0, 1}, {2});
  StackFrame timed;
  timed.function = "pthread_cond_timedwait";
  timed.module = "/lib/libc.so.6";
  job.rank(0).stacks->back().frames.push_back(timed);
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::undecided);
}

TEST(Analyze, AThreadThatSleepsBesideThreadsInMpiIsNoReasonToGoOn) {
  auto job = two_and_one();
  job.rank(0).mpi->thread_level = ThreadLevel::multiple;
  BlockedCall sleeping{.thread = 5000};
  sleeping.system_call = "clock_nanosleep";
  job.rank(0).blocked_in->push_back(sleeping);
  job.rank(0).stacks->push_back({.thread = 5000, .name = "logger"});
  const auto analysis = analyze(job.dump);
  EXPECT_EQ(analysis.verdict, Verdict::undecided);
  EXPECT_EQ(analysis.confidence, std::nullopt);
  ASSERT_EQ(analysis.look_at.size(), 1U);
  EXPECT_THAT(analysis.look_at.front(),
              testing::EndsWith("0 -> 1 -> 0 wait for each other; thread `logger` of rank 0 could "
                                "still send"));
  // It slept in the look before, and is seen at work for a moment.
  job.look_again();
  job.rank(0).blocked_in->back().system_call.reset();
  job.rank(0).blocked_in->back().function = "look_at_clock";
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::undecided);
  // A second rank that computes moves.
  EXPECT_EQ(analyze(job.dump).unchanged_ms, 2000);
  job.outside(2);
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::undecided);
  EXPECT_EQ(analyze(job.dump).unchanged_ms, std::nullopt);
}

TEST(Analyze, WhereAWaitIsNotVisibleNoDeadlockIsNotCertain) {
  JobOnPaper job(2);
  job.in_call(0, "MPI_Wait");
  job.rank(0).mpi->thread_level = ThreadLevel::multiple;
  BlockedCall working{.thread = 5000};
  working.function = "compute";
  job.rank(0).blocked_in->push_back(working);
  job.rank(0).stacks->push_back({.thread = 5000});
  job.look_again();
  const auto analysis = analyze(job.dump);
  EXPECT_EQ(analysis.verdict, Verdict::no_deadlock);
  EXPECT_EQ(analysis.confidence, Confidence::possible);
}

TEST(Analyze, ASystemCallThatWaitsForAnotherProcessIsUnknown) {
  auto job = two_and_one();
  job.outside(1, "flock");
  const auto analysis = analyze(job.dump);
  EXPECT_EQ(analysis.verdict, Verdict::undecided);
  EXPECT_TRUE(has(analysis, FindingKind::unknown_wait));
  job.outside(1, "clock_nanosleep");
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::no_deadlock);
}

TEST(Analyze, WhoWaitsOutsideOfMpiAndIsAwaitedByNobodyIsNamedAndDecidesNothing) {
  JobOnPaper job(4);
  job.blocked_receive(0, 1);
  job.blocked_receive(1, 0);
  job.count(0, 1, 1, 0);
  job.outside(2, "pause");
  job.outside(3, "pause");
  const auto analysis = analyze(job.dump);
  EXPECT_EQ(analysis.verdict, Verdict::no_deadlock);
  EXPECT_EQ(analysis.confidence, Confidence::possible);
  ASSERT_TRUE(has(analysis, FindingKind::unknown_wait));
  EXPECT_EQ(analysis.findings.front().message,
            "ranks 2,3: outside of MPI: compute, in system call pause; what it waits for is not "
            "visible, and no rank in MPI is seen to wait for it");
  auto another = job; // a rank that was not dumped may wait for them
  for (RankDump& rank : another.dump.ranks)
    rank.world_size = 5;
  EXPECT_EQ(analyze(another.dump).verdict, Verdict::undecided);
  job.blocked_receive(3, 2); // now somebody does
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::undecided);
}

TEST(Analyze, WhoPollsAndWhoWaitsForHimAreNoSignThatAJobGoesOn) {
  JobOnPaper job(3);
  job.in_call(0, "MPI_Iprobe"); // for what rank 2 may send
  job.blocked_receive(1, 0);
  job.outside(2, "pause");
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::undecided);
  job.outside(0, "clock_nanosleep"); // between two calls of MPI_Iprobe
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::undecided);
  job.outside(0);
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::no_deadlock);
}

TEST(Analyze, AnotherJobThatGoesOnDecidesNothing) {
  JobOnPaper job(2);
  job.outside(0, "pause");
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::no_deadlock);
  for (RankDump& rank : job.dump.ranks) {
    rank.job_id = "job of " + std::to_string(*rank.pid);
    rank.rank = 0;
    rank.world_size = 1;
  }
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::undecided);
}

TEST(Analyze, ManyPlacesOfStragglersAreCutShort) {
  JobOnPaper job(20);
  for (int rank = 0; rank < 10; ++rank) {
    job.outside(rank);
    job.rank(rank).blocked_in->front().function = "step" + std::to_string(rank);
    job.blocked_receive(10 + rank, 0);
  }
  const auto analysis = analyze(job.dump);
  EXPECT_EQ(std::ranges::count(analysis.findings, FindingKind::straggler, &Finding::kind), 9);
  EXPECT_THAT(
      analysis.look_at,
      testing::Contains("ranks 8,9 run outside of MPI: in 2 more places, and ranks 10-19 wait"));
}

TEST(Analyze, StragglersOfSeveralJobsAreToldApart) {
  JobOnPaper job(6);
  for (int rank = 0; rank < 6; ++rank) {
    job.outside(rank);
    job.rank(rank).job_id = rank < 3 ? "a" : "b";
    job.rank(rank).rank = rank % 3;
    job.rank(rank).world_size = 3;
  }
  job.blocked_receive(1, 0);
  job.blocked_receive(2, 0);
  job.blocked_receive(4, 0);
  job.blocked_receive(5, 0);
  const auto analysis = analyze(job.dump);
  std::vector<std::optional<std::string>> jobs;
  for (const Finding& finding : analysis.findings)
    if (finding.kind == FindingKind::straggler) {
      EXPECT_EQ(ranks_of(finding.ranks), std::vector<std::int64_t>{0});
      jobs.push_back(finding.job_id);
    }
  EXPECT_THAT(jobs, testing::ElementsAre("a", "b"));
  EXPECT_THAT(analysis.look_at, testing::Contains(testing::AllOf(
                                    testing::StartsWith("rank 0 of job a runs outside of MPI"),
                                    testing::EndsWith("and ranks 1,2 of job a, ranks 1,2 of job b "
                                                      "wait"))));
}

TEST(Analyze, RanksOfAnotherJobThatAreWaitedForAreNamedWithIt) {
  JobOnPaper job(2);
  for (int rank = 0; rank < 2; ++rank) {
    job.rank(rank).job_id = rank == 0 ? "a" : "b";
    job.rank(rank).rank = 0;
    job.rank(rank).world_size = 1;
    Communicator& bridge = job.rank(rank).communicators.front();
    bridge.kind = CommunicatorKind::inter;
    bridge.remote.members = {{rank == 0 ? "b" : "a", 0}};
    bridge.remote.ranks.reset();
  }
  job.blocked_receive(0, 0);
  job.blocked_receive(1, std::nullopt);
  const auto analysis = analyze(job.dump);
  ASSERT_EQ(analysis.waits.size(), 2);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(analysis.waits[i].ranks.empty());
    ASSERT_EQ(analysis.waits[i].elsewhere.size(), 1);
    EXPECT_EQ(analysis.waits[i].elsewhere[0].job_id, i == 0 ? "b" : "a");
    EXPECT_EQ(ranks_of(analysis.waits[i].elsewhere[0].ranks), std::vector<std::int64_t>{0});
  }
}

TEST(Analyze, SaysOfWhichRanksFewAreWhereTheOthersAreNot) {
  const auto four_of = [](int size) {
    JobOnPaper job(size);
    for (int rank = 0; rank < 4; ++rank)
      job.blocked_receive(rank, (rank + 1) % 4);
    job.rank(3).blocked_in->front().line = 300;
    return job;
  };
  const std::string where = "in MPI_Recv at halo.c:212, rank 3 is in MPI_Recv at halo.c:300";
  EXPECT_EQ(analyze(four_of(4).dump).look_at.front(), "3 of 4 ranks are " + where);
  auto job = four_of(5);
  EXPECT_EQ(analyze(job.dump).look_at.front(), "3 of the 4 ranks that cannot go on are " + where);
  job.dump.ranks.pop_back();
  job.world(3).queue(OpClass::receive).operations.front().peer = {false, 4, 4};
  EXPECT_EQ(analyze(job.dump).look_at.front(),
            "3 of the 4 ranks that were looked at are " + where + " (an observation, no verdict)");
}

TEST(Analyze, SaysWhoCameToTheCallOfAllOthersOnAnotherWay) {
  JobOnPaper job(4);
  for (int rank = 0; rank < 4; ++rank) {
    job.blocked_receive(rank, (rank + 1) % 4);
    auto& call = job.rank(rank).blocked_in->front();
    call.function = "receive";
    const auto caller = [](const char* function, int line) {
      StackFrame frame;
      frame.function = function;
      frame.file = "/src/solver.c";
      frame.line = line;
      return frame;
    };
    StackFrame inside;
    inside.function = "MPI_Recv";
    auto at_call = caller("receive", static_cast<int>(*call.line));
    job.rank(rank).stacks = {{.thread = call.thread,
                              .frames = {inside, at_call, caller("exchange", 40),
                                         caller(rank == 3 ? "finish" : "step", 88),
                                         caller("main", rank == 3 ? 20 : 10)}}};
  }
  const std::string place = "in MPI_Recv at halo.c:212 (from ";
  EXPECT_EQ(analyze(job.dump).look_at.front(), "3 of 4 ranks are " + place +
                                                   "step at solver.c:88), rank 3 is " + place +
                                                   "finish at solver.c:88)");
  const auto other = [&job] { return analyze(job.dump).look_at.front(); };
  auto same = job;
  StackFrame& way = same.rank(3).stacks->front().frames[3];
  way.function = "step";
  way.line.reset(); // no line information where it runs
  same.rank(3).stacks->front().frames[4].line = 10;
  EXPECT_THAT(analyze(same.dump).look_at.front(), testing::Not(testing::HasSubstr("3 of 4")));
  job.rank(3).stacks->front().frames.resize(3); // where it came from is not known
  EXPECT_THAT(other(), testing::Not(testing::HasSubstr("3 of 4")));
  job.rank(3).stacks.reset();
  EXPECT_THAT(other(), testing::Not(testing::HasSubstr("3 of 4")));
}

TEST(Analyze, WhereAllWaitOutsideOfMpiNothingIsDecided) {
  JobOnPaper job(2);
  job.outside(0, "pause");
  job.outside(1, "read");
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::undecided);
  job.outside(1);
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::no_deadlock);
  job.rank(1).process_state = "T"; // it does not go on by itself
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::undecided);
}

TEST(Analyze, OneSidedWaitsAreUnknownUnlessAllOthersGoOn) {
  JobOnPaper job(3);
  job.in_call(0, "MPI_Win_lock");
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::no_deadlock);
  auto gone = job;
  job.blocked_receive(1, 0);
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::undecided);
  gone.dump.ranks[1].process_state = "Z"; // it holds the lock
  EXPECT_EQ(analyze(gone.dump).verdict, Verdict::undecided);
}

TEST(Analyze, AReceiveFromOneselfIsACoreByItself) {
  JobOnPaper job(2);
  job.blocked_receive(0, 0);
  job.blocked_receive(1, 0);
  const auto analysis = analyze(job.dump);
  expect_deadlock(analysis, {0}, {1});
  EXPECT_TRUE(has(analysis, FindingKind::cycle));
}

TEST(Analyze, InsideOfACollectiveItsOwnMessagesAreTheEdges) {
  JobOnPaper job(3);
  in_barrier(job, 0, 1);
  in_barrier(job, 1, 2);
  job.blocked_receive(2, 0);
  expect_deadlock(analyze(job.dump), {0, 1, 2});
  job.outside(2);
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::no_deadlock);
}

TEST(Analyze, AReceiveFromAnybodyInsideWaitsForThoseWhoAreNotInIt) {
  JobOnPaper job(3);
  in_barrier(job, 0, 1);
  Operation& any = job.world(0).queue(OpClass::receive).operations.back();
  any.peer = {true, {}, {}};
  in_barrier(job, 1, 0);
  job.blocked_receive(2, 0);
  expect_deadlock(analyze(job.dump), {0, 2}, {1});
}

TEST(Analyze, ANonblockingCollectiveGoesOnInAnyCall) {
  JobOnPaper job(3);
  const auto under_way = [&](int rank, std::int64_t from) {
    job.receive(rank, from, -27).collective = Collective::nonblocking;
  };
  under_way(0, 1);
  job.in_call(0, "MPI_Wait");
  under_way(1, 2); // rank 1 is in MPI_Recv from rank 0, and its part goes on there
  job.blocked_receive(1, 0);
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::no_deadlock);
  under_way(2, 0); // all wait for each other's part
  job.blocked_receive(2, 0);
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::deadlock);
}

TEST(Analyze, WhoHandlesAMessageGoesOn) {
  auto job = two_and_one();
  const auto frame = [](const char* module) {
    StackFrame made;
    made.module = module;
    return made;
  };
  job.rank(0).stacks->front().frames = {frame("/lib/openmpi3/mca_pml_ob1.so"),
                                        frame("/lib/openmpi3/mca_btl_vader.so"),
                                        frame("/lib/openmpi3/mca_pml_ob1.so")};
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::no_deadlock);
}

TEST(Analyze, APollingLoopIsAGuess) {
  JobOnPaper job(2);
  job.receive(0, 1, 17);
  job.in_call(0, "MPI_Test");
  job.blocked_receive(1, 0);
  const auto analysis = analyze(job.dump);
  expect_deadlock(analysis, {0, 1});
  EXPECT_EQ(analysis.confidence, Confidence::possible);
  EXPECT_TRUE(has(analysis, FindingKind::polling));
}

TEST(Analyze, LoopsThatPollForWhatIsInNoListGoOnWhereAllOthersDo) {
  JobOnPaper job(2);
  job.in_call(0, "MPI_Iprobe");
  job.blocked_receive(1, 0);
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::undecided);
  job.outside(0, "clock_nanosleep");
  job.rank(0).mpi->progress = 1;
  job.look_again();
  job.rank(0).mpi->progress = 2;
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::undecided);
  auto goes_on = job;
  goes_on.outside(1);
  EXPECT_EQ(analyze(goes_on.dump).verdict, Verdict::no_deadlock);

  JobOnPaper filtered(2);
  for (int rank = 0; rank < 2; ++rank)
    filtered.in_call(rank, "MPI_Test"); // for receives that are not shown
  filtered.dump.filters.tags = {7};
  EXPECT_EQ(analyze(filtered.dump).verdict, Verdict::undecided);
}

TEST(Analyze, AnExchangeMayWaitForWhatAFilterHides) {
  JobOnPaper job(3);
  const auto request = job.send(0, 1, 1).request;
  BlockedCall& call = job.in_call(0, "MPI_Sendrecv");
  call.request = request;
  call.request_unique = true;
  job.outside(1);
  job.outside(2);
  job.dump.filters.peers = {1};
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::undecided);
}

TEST(Analyze, ACallThatMakesACommunicatorAndStandsStillWaitsForTheOnlyCollective) {
  JobOnPaper job(2);
  job.receive(0, 1, -27).collective = Collective::nonblocking;
  job.in_call(0, "MPI_Comm_dup");
  job.blocked_receive(1, 0);
  EXPECT_EQ(analyze(job.dump).confidence, Confidence::possible); // it may be about to return
  job.look_again();
  expect_deadlock(analyze(job.dump), {0, 1});
  EXPECT_EQ(analyze(job.dump).confidence, Confidence::certain);
  for (auto* ranks : {&job.dump.ranks, &job.dump.earlier.front().ranks})
    ranks->front().blocked_in->front().call = "MPI_Win_free"; // or for transfers
  EXPECT_EQ(analyze(job.dump).confidence, Confidence::likely);
  const auto frame = [](const char* function, const char* module) {
    StackFrame made;
    made.function = function;
    made.module = module;
    return made;
  };
  job.rank(0).blocked_in->front().call = "MPI_Comm_dup";
  job.rank(0).stacks = {{.thread = job.rank(0).blocked_in->front().thread,
                         .frames = {frame("copy_attribute", "/home/a/solver"),
                                    frame("MPI_Comm_dup", "/usr/lib/libmpi.so.40"),
                                    frame("main", "/home/a/solver")}}};
  EXPECT_NE(analyze(job.dump).verdict, Verdict::deadlock); // the callback does something else
}

TEST(Analyze, AnExchangeThatHasSentDoesNotWaitForAnotherSend) {
  JobOnPaper job(3);
  job.send(0, 2, 1); // of MPI_Isend
  BlockedCall& call = job.in_call(0, "MPI_Sendrecv");
  call.request = job.receive(0, 1, 1).request;
  call.request_unique = true;
  job.outside(1);
  job.blocked_receive(2, 0, 9);
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::no_deadlock);
  job.rank(0).blocked_in->front().request = {}; // for which of both it waits is not known
  job.rank(0).blocked_in->front().request_unique.reset();
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::undecided);
  job.look_again();
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::undecided);
}

TEST(Analyze, AnExchangeIsDeadWhereNeitherOfItsHalvesCanGoOn) {
  JobOnPaper job(2);
  for (const int rank : {0, 1}) {
    job.send(rank, 1 - rank, 1);
    job.receive(rank, 1 - rank, 2);
    job.in_call(rank, "MPI_Sendrecv"); // for which of both it waits is not known
  }
  expect_deadlock(analyze(job.dump), {0, 1});
  EXPECT_EQ(analyze(job.dump).confidence, Confidence::possible); // they may be about to return
  const auto words = analyze(job.dump).waits.front();
  EXPECT_EQ(words.mode, WaitsFor::all);
  EXPECT_THAT(words.because,
              testing::HasSubstr("for one or more of these 2 (which ones is not known): "));
  job.look_again();
  expect_deadlock(analyze(job.dump), {0, 1});
  EXPECT_EQ(analyze(job.dump).confidence, Confidence::certain);
  for (auto* ranks : {&job.dump.ranks, &job.dump.earlier.front().ranks})
    for (RankDump& rank : *ranks)
      for (Communicator& communicator : rank.communicators)
        communicator.counters.reset();
  expect_deadlock(analyze(job.dump), {0, 1});
  EXPECT_EQ(analyze(job.dump).confidence, Confidence::possible); // both may be of MPI_Isend
}

TEST(Analyze, AnExchangeThatStillSendsWaitsForItsReceiveToo) {
  JobOnPaper job(3);
  BlockedCall& call = job.in_call(0, "MPI_Sendrecv");
  call.request = job.send(0, 1, 1).request;
  call.request_unique = false;
  job.receive(0, 2, 1);
  job.outside(1);
  job.blocked_receive(2, 0, 9);
  expect_deadlock(analyze(job.dump), {0, 2});
  const auto with = [&](std::optional<bool> unique) {
    job.rank(0).blocked_in->front().request_unique = unique;
    return analyze(job.dump);
  };
  EXPECT_EQ(with(true).verdict, Verdict::no_deadlock);       // its own one is complete
  EXPECT_EQ(with(std::nullopt).verdict, Verdict::undecided); // it may be of MPI_Irecv
  job.receive(0, 2, 5);
  EXPECT_EQ(with(false).verdict, Verdict::undecided); // which one is its own?
  job.receive(0, 1, 5);
  EXPECT_EQ(with(false).verdict, Verdict::undecided);
}

TEST(Analyze, AThreadWaitsForNoGroupOfAnotherThreadsWaitall) {
  JobOnPaper job(2);
  for (int i = 0; i < 2; ++i) {
    Operation& receive = job.receive(0, 1, 1);
    receive.waited.group = 1;
    receive.waited.count = 2;
  }
  job.in_call(0, "MPI_Waitall");
  job.rank(0).mpi->thread_level = ThreadLevel::multiple;
  BlockedCall receiving{.thread = 5000};
  receiving.call = "MPI_Recv"; // its message has come
  job.rank(0).blocked_in->push_back(receiving);
  job.blocked_receive(1, 0, 2);
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::no_deadlock);
}

TEST(Analyze, WhoWaitsOutsideOfMpiAndIsNeededForATransferIsNotSetAside) {
  JobOnPaper job(3);
  job.in_call(0, "MPI_Send").request = job.send(0, 1, 1).request;
  job.receive(1, 0, 1);
  job.outside(1, "flock");
  job.outside(2);
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::undecided);
}

TEST(Analyze, OfTwoThreadsInCollectivesNobodyKnowsWhoseTheMessagesInsideAre) {
  JobOnPaper job(3);
  for (const int from : {2, 1})
    job.receive(0, from, -10).collective = Collective::barrier;
  job.in_call(0, "MPI_Barrier");
  job.rank(0).mpi->thread_level = ThreadLevel::multiple;
  BlockedCall other{.thread = 5000};
  other.call = "MPI_Allreduce";
  job.rank(0).blocked_in->push_back(other);
  job.outside(1);
  job.blocked_receive(2, 0, 9);
  EXPECT_NE(analyze(job.dump).verdict, Verdict::deadlock);
  job.world(0).queue(OpClass::receive).operations.truncate(1); // rank 1's is hidden
  job.dump.filters.peers = {2};
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::undecided);
}

TEST(Analyze, WhoRunsACallbackInsideOfFinalizeHasNotLeft) {
  JobOnPaper job(2);
  job.blocked_receive(0, 1);
  auto& call = job.in_call(1, "MPI_Finalize");
  const auto frame = [](const char* function, const char* module) {
    StackFrame made;
    made.function = function;
    made.module = module;
    return made;
  };
  std::vector<StackFrame> frames = {frame("MPI_Finalize", "/usr/lib/libmpi.so.40"),
                                    frame("main", "/home/a/solver")};
  job.rank(1).stacks = {{.thread = call.thread, .frames = frames}};
  expect_deadlock(analyze(job.dump), {0}, {1});
  frames.insert(frames.begin(), frame("write_last_file", "/home/a/solver"));
  job.rank(1).stacks = {{.thread = call.thread, .frames = frames}};
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::no_deadlock);
  frames.insert(frames.begin(), frame("MPI_Recv", "/usr/lib/libmpi.so.40"));
  job.rank(1).stacks = {{.thread = call.thread, .frames = frames}};
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::undecided);
}

TEST(Analyze, WhoStandsInFinalizeIsNotSurelyAboutToLeave) {
  JobOnPaper job(2);
  for (int rank = 0; rank < 2; ++rank)
    job.in_call(rank, "MPI_Finalize");
  job.look_again();
  const auto analysis = analyze(job.dump);
  EXPECT_EQ(analysis.verdict, Verdict::no_deadlock);
  EXPECT_EQ(analysis.confidence, Confidence::possible);
  EXPECT_THAT(analysis.not_visible, testing::Contains("what goes on inside of MPI_Finalize"));
}

TEST(Analyze, ALoopAroundIprobeMayEndByAMessageOfAnybody) {
  JobOnPaper job(2);
  job.receive(0, 1, 17);
  job.in_call(0, "MPI_Iprobe");
  job.blocked_receive(1, 0);
  const auto analysis = analyze(job.dump);
  EXPECT_EQ(analysis.verdict, Verdict::undecided);
  EXPECT_TRUE(has(analysis, FindingKind::unknown_wait));
}

TEST(Analyze, TheTagThatNearlyMeetsIsTheFirstPlaceToLookAt) {
  auto job = two_and_one();
  job.send(1, 0, 71);
  const auto analysis = analyze(job.dump);
  ASSERT_FALSE(analysis.findings.empty());
  EXPECT_EQ(analysis.findings.front().kind, FindingKind::tag_mismatch);
  ASSERT_FALSE(analysis.look_at.empty());
  EXPECT_NE(analysis.look_at.front().find("tag 71"), std::string::npos);
}

TEST(Analyze, ManyOrphansAreOneLineThatNamesTheirRanks) {
  auto job = two_and_one();
  job.add_communicator("dup", 1);
  for (const std::int64_t tag : {1, 2, 3, 4})
    for (const int rank : {0, 1})
      job.message(rank, 2, tag, 1);
  const auto analysis = analyze(job.dump);
  const auto& last = analysis.findings.back();
  EXPECT_EQ(last.kind, FindingKind::orphan_unexpected);
  EXPECT_EQ(last.message, "ranks 0,1 have 5 more messages that they do not receive");
}

TEST(Analyze, SaysWhatNearlyMeetsInCommunicatorAndSource) {
  auto job = two_and_one();
  job.add_communicator("dup", 1);
  job.send(1, 0, 17, 1);
  job.send(2, 0, 17);
  const auto analysis = analyze(job.dump);
  EXPECT_TRUE(has(analysis, FindingKind::communicator_mismatch));
  EXPECT_TRUE(has(analysis, FindingKind::source_mismatch));
}

TEST(Analyze, APersistentSendThatWasNotStarted) {
  auto job = two_and_one();
  Operation persistent;
  persistent.kind = OpKind::send;
  persistent.status = OpStatus::inactive;
  persistent.peer.local_rank = 0;
  persistent.tag.value = 17;
  job.world(1).queue(OpClass::send).operations.push_back(persistent);
  job.world(1).queue(OpClass::send).total = 1;
  EXPECT_TRUE(has(analyze(job.dump), FindingKind::never_started));
}

TEST(Analyze, NothingIsSaidOfAJobThatNobodyCouldRead) {
  JobOnPaper job(2);
  for (RankDump& rank : job.dump.ranks) {
    rank.status = RankStatus::failed;
    rank.communicators.clear();
    rank.blocked_in.reset();
    rank.stacks.reset();
  }
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::undecided);
}

} // namespace
} // namespace mqbridge
