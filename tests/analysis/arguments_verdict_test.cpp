// Verdicts where no queue was read: by the arguments of calls, which never make more than a likely
// deadlock.

#include "host/analysis/analyze.h"
#include "tests/analysis/job_on_paper.h"

#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using test::JobOnPaper;
using testing::ElementsAre;
using testing::HasSubstr;

/// A job of MPICH without lists.
class Job : public JobOnPaper {
public:
  explicit Job(std::int64_t ranks) : JobOnPaper(ranks) {
    for (RankDump& rank : dump.ranks) {
      rank.communicators.clear();
      rank.mpi->waits_state = 12;
      rank.mpi->waits_counted = true;
    }
  }

  CallArguments& calls(std::int64_t number, const std::string& call) {
    BlockedCall& blocked = in_call(number, call);
    blocked.program_state = 77;
    auto& arguments = blocked.arguments.emplace();
    arguments.communicator = "MPI_COMM_WORLD";
    arguments.bytes = 8;
    return arguments;
  }
  CallArguments& calls(std::int64_t number, const std::string& call, std::int64_t peer) {
    auto& arguments = calls(number, call);
    arguments.peer = peer;
    arguments.tag = 7;
    return arguments;
  }
  RankDump& before(std::int64_t number) {
    return dump.earlier.front().ranks[static_cast<std::size_t>(number)];
  }
};

Job ring(const std::string& call) {
  Job job(3);
  for (std::int64_t rank = 0; rank < 3; ++rank)
    job.calls(rank, call, (rank + 1) % 3);
  job.look_again();
  return job;
}

TEST(VerdictByArguments, ARingThatStandsStillIsALikelyDeadlock) {
  for (const char* call : {"MPI_Recv", "MPI_Probe", "MPI_Ssend"}) {
    const Analysis analysis = analyze(ring(call).dump);
    EXPECT_EQ(analysis.verdict, Verdict::deadlock) << call;
    EXPECT_EQ(analysis.confidence, Confidence::likely) << call;
    EXPECT_THAT(test::ranks_of(analysis.core), ElementsAre(0, 1, 2));
  }
  const Analysis analysis = analyze(ring("MPI_Recv").dump);
  EXPECT_EQ(analysis.waits.at(0).because, "MPI_Recv from 1 tag 7 (from the call's arguments)");
}

TEST(VerdictByArguments, ARingOfSendsThatMayBeBufferedIsAPossibleOne) {
  const Analysis analysis = analyze(ring("MPI_Send").dump);
  EXPECT_EQ(analysis.verdict, Verdict::deadlock);
  EXPECT_EQ(analysis.confidence, Confidence::possible);
  EXPECT_EQ(analyze(ring("MPI_Bsend").dump).verdict, Verdict::undecided);
}

/// Each of them in one rank alone.
TEST(VerdictByArguments, WhatMovedBetweenTheLooksIsNoDeadlock) {
  using Change = void (*)(Job&);
  const Change changes[] = {
      [](Job& job) { job.before(1).mpi->waits_state = 11; },
      [](Job& job) { job.before(1).blocked_in->front().program_state = 76; },
      [](Job& job) { job.before(1).blocked_in->front().arguments->tag = 6; },
      [](Job& job) { job.before(1).blocked_in->front().line = 1; },
      [](Job& job) { job.before(1).blocked_in->front().call = "MPI_Send"; },
  };
  for (const Change change : changes) {
    Job job = ring("MPI_Recv");
    change(job);
    const Analysis analysis = analyze(job.dump);
    EXPECT_EQ(analysis.verdict, Verdict::no_deadlock);
    EXPECT_EQ(analysis.confidence, Confidence::possible);
  }
}

TEST(VerdictByArguments, WhatNobodyKnowsLeavesTheJobUndecided) {
  using Change = void (*)(Job&);
  const Change changes[] = {
      [](Job& job) { job.dump.earlier.clear(); },
      [](Job& job) { job.rank(1).mpi->waits_state = job.before(1).mpi->waits_state = {}; },
      [](Job& job) { job.before(1).process_state = "T"; },
      [](Job& job) {
        for (RankDump* rank : {&job.rank(1), &job.before(1)})
          rank->blocked_in->front().program_state.reset();
      },
      [](Job& job) { job.before(1).stopped_at = "2026-01-02T03:04:06.500Z"; }, // half a second
  };
  for (const Change change : changes) {
    Job job = ring("MPI_Recv");
    change(job);
    EXPECT_EQ(analyze(job.dump).verdict, Verdict::undecided);
  }
  using OfArguments = void (*)(CallArguments&);
  const OfArguments facts[] = {
      [](CallArguments& arguments) { arguments.peer.reset(); },
      [](CallArguments& arguments) { arguments.peer = 3; },
      [](CallArguments& arguments) { arguments.communicator = "0x84000001"; },
      [](CallArguments& arguments) { arguments.communicator.reset(); },
      [](CallArguments& arguments) { arguments.bytes.reset(); },
      [](CallArguments& arguments) { arguments.bytes = std::int64_t{1} << 30; },
  };
  for (const OfArguments fact : facts) {
    Job job = ring("MPI_Recv");
    fact(*job.rank(1).blocked_in->front().arguments);
    fact(*job.before(1).blocked_in->front().arguments);
    EXPECT_EQ(analyze(job.dump).verdict, Verdict::undecided);
  }
}

TEST(VerdictByArguments, OfAnMpiThatMayNotCountItsWaitsIsPossibleAtMost) {
  Job job = ring("MPI_Recv");
  job.rank(1).mpi->waits_counted = false;
  EXPECT_EQ(analyze(job.dump).confidence, Confidence::possible);
}

TEST(VerdictByArguments, QueuesThatWereReadCountInTheirPlace) {
  Job job = ring("MPI_Recv");
  JobOnPaper with_queues(3);
  for (std::int64_t rank = 0; rank < 3; ++rank)
    for (RankDump* look : {&job.rank(rank), &job.before(rank)})
      look->communicators = with_queues.rank(rank).communicators; // nothing is pending
  EXPECT_NE(analyze(job.dump).verdict, Verdict::deadlock);
}

TEST(VerdictByArguments, ARankThatComputesHelps) {
  Job job(3);
  job.calls(0, "MPI_Recv", 1);
  job.calls(1, "MPI_Recv", 2);
  job.look_again();
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::no_deadlock);
}

TEST(VerdictByArguments, AReceiveFromAnybodyWaitsForAll) {
  Job job(3);
  job.calls(0, "MPI_Recv").any_source = true;
  job.calls(1, "MPI_Recv", 0);
  job.look_again();
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::no_deadlock);
  job.calls(2, "MPI_Recv", 1);
  job.look_again();
  const Analysis analysis = analyze(job.dump);
  EXPECT_EQ(analysis.verdict, Verdict::deadlock);
  EXPECT_EQ(analysis.confidence, Confidence::likely);
}

TEST(VerdictByArguments, ABarrierWaitsForThoseThatAreNotInIt) {
  Job job(3);
  job.calls(0, "MPI_Barrier");
  job.calls(1, "MPI_Barrier");
  job.calls(2, "MPI_Recv", 0);
  job.look_again();
  const Analysis analysis = analyze(job.dump);
  EXPECT_EQ(analysis.verdict, Verdict::deadlock);
  EXPECT_EQ(analysis.confidence, Confidence::likely);
  EXPECT_THAT(test::ranks_of(analysis.core), ElementsAre(0, 2));
  EXPECT_EQ(analysis.waits.at(0).because,
            "MPI_Barrier: 2 has not entered it (from the call's arguments)");
  job.outside(2);
  job.look_again();
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::no_deadlock);
}

TEST(VerdictByArguments, InsideOfACollectiveOfAllNothingIsSeen) {
  for (const char* call : {"MPI_Barrier", "MPI_Bcast", "MPI_Allreduce"}) {
    Job job(3);
    for (std::int64_t rank = 0; rank < 3; ++rank)
      job.calls(rank, call);
    job.look_again();
    EXPECT_EQ(analyze(job.dump).verdict, Verdict::undecided) << call;
  }
}

/// The root may have left it, and its message may be with a member that has yet to come.
TEST(VerdictByArguments, ABroadcastMayWaitForAnybody) {
  Job job(3);
  job.calls(0, "MPI_Barrier");
  job.calls(2, "MPI_Bcast").root = 0;
  job.look_again();
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::no_deadlock);
  job.calls(1, "MPI_Barrier");
  job.look_again();
  const Analysis analysis = analyze(job.dump);
  EXPECT_EQ(analysis.verdict, Verdict::deadlock);
  EXPECT_EQ(analysis.confidence, Confidence::possible);
  EXPECT_THAT(analysis.waits.at(2).because, HasSubstr("MPI_Bcast with root 0"));
}

TEST(VerdictByArguments, AnExchangeIsDeadIfNeitherPartnerCanHelp) {
  Job job(3);
  for (std::int64_t rank = 0; rank < 3; ++rank)
    job.calls(rank, "MPI_Sendrecv", (rank + 1) % 3).send_to = (rank + 1) % 3;
  job.look_again();
  EXPECT_EQ(analyze(job.dump).verdict, Verdict::deadlock);
  EXPECT_EQ(analyze(job.dump).confidence, Confidence::possible);
  job.rank(1).blocked_in->front().arguments->send_to.reset();
  EXPECT_NE(analyze(job.dump).verdict, Verdict::deadlock);
}

/// It may have sent before it ended.
TEST(VerdictByArguments, APartnerThatHasJustGoneDecidesNothing) {
  Job job(2);
  job.calls(0, "MPI_Recv", 1);
  job.look_again();
  job.rank(1).errors = {{"attach.no_such_process", RankError::Level::error, "gone", ""}};
  job.rank(1).status = RankStatus::failed;
  job.rank(1).blocked_in.reset();
  EXPECT_NE(analyze(job.dump).verdict, Verdict::deadlock);
}

} // namespace
} // namespace mqbridge
