#include "host/dump/together/recorded_messages.h"
#include "host/mqs/queues.h"
#include "tests/analysis/recorded_job.h"

#include <gtest/gtest.h>

namespace mqbridge {
namespace {

using test::RecordedJob;

std::vector<std::int64_t> numbers(const ChunkedList<Operation>& operations) {
  std::vector<std::int64_t> all;
  for (const Operation& operation : operations)
    all.push_back(operation.sequence ? std::int64_t{*operation.sequence} : -1);
  return all;
}

std::vector<std::int64_t> lengths(const ChunkedList<Operation>& operations) {
  std::vector<std::int64_t> all;
  for (const Operation& operation : operations)
    all.push_back(operation.length.value.value_or(-1));
  return all;
}

/// Again, and with all that the first time has changed.
void expect_same_again(RecordedJob& job) {
  const auto picture = [&] {
    std::vector<std::int64_t> all;
    for (const RankDump& rank : job.dump.ranks)
      for (const Queue& queue : rank.communicators.front().queues) {
        all.push_back(static_cast<std::int64_t>(queue.state));
        all.push_back(static_cast<std::int64_t>(queue.total.value_or(99)));
        for (const Operation& operation : queue.operations) {
          all.push_back(static_cast<std::int64_t>(operation.status));
          all.push_back(operation.sequence ? std::int64_t{*operation.sequence} : -1);
          all.push_back(operation.length.value.value_or(-1));
          all.push_back(operation.actual ? operation.actual->length.value_or(-2) : -3);
        }
      }
    return all;
  };
  const auto before = picture();
  job.settle();
  EXPECT_EQ(picture(), before);
}

TEST(RecordedMessages, WhatWasSentAndNotReceivedIsUnexpected) {
  RecordedJob job(2);
  job.sent(0, 1, 5, 100);
  job.sent(0, 1, 6, 200);
  job.sent(0, 1, 5, 300);
  job.received(1, 0, 5);
  job.settle();
  const Queue& unexpected = job.unexpected(1);
  ASSERT_TRUE(is_whole(unexpected));
  EXPECT_EQ(numbers(unexpected.operations), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(lengths(unexpected.operations), (std::vector<std::int64_t>{200, 300}));
  const Operation& message = *unexpected.operations.begin();
  EXPECT_EQ(message.kind, OpKind::message);
  EXPECT_EQ(message.source, OpSource::recorder);
  EXPECT_EQ(message.peer.local_rank, 0);
  EXPECT_EQ(message.peer.global_rank, 0);
  EXPECT_EQ(message.tag.value, 6);
  EXPECT_TRUE(is_whole(job.unexpected(0))); // nobody has sent it anything
  // The one that was received is gone from the sender, the others are there.
  EXPECT_EQ(numbers(job.operations(0, OpClass::send)), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(job.world(0).queue(OpClass::send).total, 2U);
  expect_same_again(job);
}

TEST(RecordedMessages, APendingReceiveMeetsTheFirstThatItTakes) {
  RecordedJob job(2);
  job.sent(0, 1, 5, 100);
  job.sent(0, 1, 6, 200);
  job.sent(0, 1, 6, 300);
  job.blocked_in_receive(1, 0, 6);
  job.settle();
  const Operation& receive = *job.operations(1, OpClass::receive).begin();
  EXPECT_EQ(receive.status, OpStatus::matched);
  ASSERT_TRUE(receive.actual);
  EXPECT_EQ(receive.actual->local_rank, 0);
  EXPECT_EQ(receive.actual->tag, 6);
  EXPECT_EQ(receive.actual->length, 200);
  EXPECT_EQ(lengths(job.operations(1, OpClass::unexpected)), (std::vector<std::int64_t>{100, 300}));
  expect_same_again(job);
}

TEST(RecordedMessages, AnyTagTakesTheEarliestAndReceivesGoInTheirOrder) {
  RecordedJob job(2);
  job.sent(0, 1, 8, 100);
  job.sent(0, 1, 7, 200);
  job.sent(0, 1, 8, 300);
  job.begin_receive(1, 0, {}); // takes 100
  job.begin_receive(1, 0, 8);  // takes 300
  job.settle();
  const auto& receives = job.operations(1, OpClass::receive);
  EXPECT_EQ(receives[0].actual->tag, 8);
  EXPECT_EQ(receives[0].actual->length, 100);
  EXPECT_EQ(receives[1].actual->length, 300);
  EXPECT_EQ(lengths(job.operations(1, OpClass::unexpected)), (std::vector<std::int64_t>{200}));
  expect_same_again(job);
}

TEST(RecordedMessages, SendsThatHaveMetAReceiveAreMatchedAndTheOthersPending) {
  RecordedJob job(2);
  job.begin_send(0, 1, 5);
  job.begin_send(0, 1, 5);
  job.begin_send(0, 1, 5);
  job.received(1, 0, 5); // the first
  job.begin_receive(1, 0, 5);
  job.settle();
  const auto& sends = job.operations(0, OpClass::send);
  EXPECT_EQ(sends[0].status, OpStatus::matched);
  EXPECT_EQ(sends[1].status, OpStatus::matched);
  EXPECT_EQ(sends[2].status, OpStatus::pending);
  EXPECT_EQ(numbers(job.operations(1, OpClass::unexpected)), (std::vector<std::int64_t>{2}));
  expect_same_again(job);
}

/// The program may have waited for its second receive first: the one that is pending then has the
/// first message. Its length is known only where all have the same.
TEST(RecordedMessages, WhichOfSeveralMessagesAReceiveHasIsNotGuessed) {
  for (const std::int64_t second : {100, 200}) {
    RecordedJob job(2);
    job.sent(0, 1, 5, 100);
    job.sent(0, 1, 5, second);
    job.received(1, 0, 5);
    job.begin_receive(1, 0, 5);
    job.settle();
    const Operation& receive = *job.operations(1, OpClass::receive).begin();
    EXPECT_EQ(receive.status, OpStatus::matched);
    EXPECT_EQ(receive.actual->tag, 5);
    EXPECT_EQ(receive.actual->length, second == 100 ? MaybeInt(100) : MaybeInt());
    EXPECT_TRUE(is_whole(job.unexpected(1)));
    expect_same_again(job);
  }
}

TEST(RecordedMessages, FromAnySourceItHasMetOneOfSeveral) {
  RecordedJob job(3);
  job.sent(0, 2, 5);
  job.begin_send(1, 2, 5);
  job.begin_receive(2, {}, 5);
  job.settle();
  const auto& receives = job.operations(2, OpClass::receive);
  EXPECT_EQ(receives[0].status, OpStatus::matched);
  EXPECT_FALSE(receives[0].actual);
  EXPECT_EQ(job.unexpected(2).state, QueueState::unavailable); // one of the two
  EXPECT_EQ(job.operations(1, OpClass::send)[0].status, OpStatus::unknown);
  expect_same_again(job);
  job.begin_receive(2, {}, 5); // the other one
  job.settle();
  EXPECT_EQ(receives[1].status, OpStatus::matched);
  job.begin_receive(2, {}, 5);
  job.begin_receive(2, 0, 5);
  job.settle();
  EXPECT_EQ(receives[2].status, OpStatus::unknown); // there is none left, and that is not seen
  expect_same_again(job);
}

TEST(RecordedMessages, FromAnySourceOneSenderIsKnown) {
  RecordedJob job(3);
  job.sent(0, 2, 5, 100);
  job.begin_receive(2, {}, {}, "MPI_Recv");
  job.settle();
  const Operation& receive = *job.operations(2, OpClass::receive).begin();
  EXPECT_EQ(receive.status, OpStatus::matched);
  EXPECT_EQ(receive.actual->local_rank, 0);
  EXPECT_EQ(receive.actual->tag, 5);
  EXPECT_EQ(receive.actual->length, 100);
  EXPECT_TRUE(is_whole(job.unexpected(2)));
}

TEST(RecordedMessages, AProbeLeavesTheMessage) {
  RecordedJob job(2);
  job.sent(0, 1, 5);
  job.begin_receive(1, 0, 5, "MPI_Probe");
  job.settle();
  EXPECT_EQ(job.operations(1, OpClass::receive)[0].status, OpStatus::pending);
  EXPECT_EQ(job.unexpected(1).total, 1U);
}

TEST(RecordedMessages, OlderOnesThanTheRecorderKeepsHaveACountAndATag) {
  RecordedJob job(2);
  job.sent_long_ago(0, 1, 5, 3);
  job.sent(0, 1, 5, 100);
  job.received(1, 0, 5);
  job.settle();
  EXPECT_TRUE(is_whole(job.unexpected(1)));
  EXPECT_EQ(lengths(job.operations(1, OpClass::unexpected)),
            (std::vector<std::int64_t>{-1, -1, 100}));
  EXPECT_EQ(numbers(job.operations(1, OpClass::unexpected)),
            (std::vector<std::int64_t>{-1, -1, 3}));
  expect_same_again(job);
}

/// What has returned meanwhile may have been sent after a send that is pending still.
TEST(RecordedMessages, WhatStandsBeforeAGapIsNotOrdered) {
  RecordedJob job(2);
  job.begin_send(0, 1, 5);
  job.sent_long_ago(0, 1, 5, 300);
  job.received(1, 0, 5, 300);
  job.settle();
  EXPECT_EQ(job.operations(0, OpClass::send)[0].status, OpStatus::unknown);
  EXPECT_EQ(numbers(job.operations(1, OpClass::unexpected)), (std::vector<std::int64_t>{-1}));
}

TEST(RecordedMessages, CountsBeginAgain) {
  RecordedJob job(2);
  job.sent_long_ago(0, 1, 5, 0xfffffffe);
  job.received(1, 0, 5, 0xfffffffe);
  for (int i = 0; i < 4; ++i)
    job.sent(0, 1, 5, 100 + i);
  EXPECT_EQ(job.channel(0, 1, 5).sent, 2U);
  job.received(1, 0, 5, 2);
  job.settle();
  EXPECT_EQ(lengths(job.operations(1, OpClass::unexpected)), (std::vector<std::int64_t>{102, 103}));
  EXPECT_EQ(job.world(1).counters->peers.front().arrived, 2);
}

TEST(RecordedMessages, AMessageCountsAsArrivedOnceItWasSent) {
  RecordedJob job(2);
  job.sent(0, 1, 5);
  job.sent(0, 1, 6);
  job.received(1, 0, 6);
  job.settle();
  const auto& sent = job.world(0).counters->peers;
  const auto& arrived = job.world(1).counters->peers;
  ASSERT_EQ(sent.size(), 1U);
  ASSERT_EQ(arrived.size(), 1U);
  EXPECT_EQ(job.world(0).counters->modulus, std::int64_t{1} << 32);
  EXPECT_EQ(sent[0].sent, 2);
  EXPECT_EQ(arrived[0].arrived, 2);
}

TEST(RecordedMessages, WhoWasSeenBeforeItSentHasGoneOn) {
  RecordedJob job(2);
  job.sent(0, 1, 5);
  job.received(1, 0, 6, 2);
  job.begin_receive(1, 0, 6);
  job.settle();
  EXPECT_EQ(job.world(0).counters->peers[0].sent, 1);
  EXPECT_EQ(job.world(1).counters->peers[0].arrived, 3);
  EXPECT_EQ(job.operations(1, OpClass::receive)[0].status, OpStatus::unknown); // may have met more
  EXPECT_EQ(job.unexpected(1).total, 1U);
}

TEST(RecordedMessages, WhoCountsLessThanWasReceivedBeforeHasSentUnseen) {
  RecordedJob job(2);
  job.sent(0, 1, 5);
  job.received(1, 0, 6);
  job.rank(1).endpoint = "local:1";
  const auto before = job.dump.ranks;
  settle_recorded_messages(job.dump.ranks, before);
  EXPECT_EQ(job.world(1).counters->peers[0].arrived, std::nullopt);
  EXPECT_EQ(job.unexpected(1).state, QueueState::unavailable);
}

TEST(RecordedMessages, WhatMayHaveBeenSentSinceIsNotSaidToBeThere) {
  RecordedJob job(2);
  job.sent(0, 1, 5);
  job.sent(0, 1, 6);
  const auto before = job.dump.ranks;
  job.sent(0, 1, 6);
  job.rank(1).stopped_at = "2026-01-02T03:04:06.000Z";
  job.rank(0).stopped_at = "2026-01-02T03:04:07.000Z"; // after its receiver
  job.settle();
  for (const Operation& message : job.operations(1, OpClass::unexpected))
    EXPECT_EQ(message.status, OpStatus::unknown);
  settle_recorded_messages(job.dump.ranks, before);
  const auto& messages = job.operations(1, OpClass::unexpected);
  EXPECT_EQ(messages[0].status, OpStatus::pending); // with tag 5 none was sent meanwhile
  EXPECT_EQ(messages[1].status, OpStatus::unknown);
  EXPECT_EQ(messages[2].status, OpStatus::unknown);
}

TEST(RecordedMessages, ChannelsForOtherTagsAreExactInTheirSums) {
  RecordedJob job(2);
  job.sent(0, 1, 5);
  job.channel(1, 0, {}).received = 1;
  job.begin_receive(1, 0, 5);
  job.settle(); // the tag has no channel of its own at the receiver
  EXPECT_EQ(job.operations(1, OpClass::receive)[0].status, OpStatus::pending);
  EXPECT_TRUE(is_whole(job.unexpected(1)));
  job.sent(0, 1, 6);
  job.settle(); // 5 or 6
  EXPECT_EQ(job.operations(1, OpClass::receive)[0].status, OpStatus::unknown);
  EXPECT_EQ(job.unexpected(1).state, QueueState::unavailable);
  EXPECT_EQ(job.world(1).counters->peers[0].arrived, 2);
}

TEST(RecordedMessages, NothingIsGuessedOfWhoIsNotThere) {
  RecordedJob job(3);
  job.begin_receive(0, 2, 5);
  job.begin_receive(0, {}, 5);
  job.begin_receive(0, 1, 5);
  job.begin_send(0, 2, 5);
  job.blocked_in_send(1, 2, 5);
  job.dump.ranks.pop_back();
  job.settle();
  EXPECT_EQ(job.operations(0, OpClass::receive)[0].status, OpStatus::unknown);
  EXPECT_EQ(job.operations(0, OpClass::receive)[1].status, OpStatus::unknown);
  EXPECT_EQ(job.operations(0, OpClass::receive)[2].status, OpStatus::pending);
  EXPECT_EQ(job.operations(0, OpClass::send)[0].status, OpStatus::unknown);
  EXPECT_EQ(job.operations(1, OpClass::send)[0].status, OpStatus::unknown);
  EXPECT_EQ(job.unexpected(0).state, QueueState::unavailable);
  EXPECT_EQ(job.unexpected(0).reason, QueueReason::senders_unseen);
}

TEST(RecordedMessages, WithMoreRanksMoreIsFound) {
  RecordedJob job(2);
  job.begin_send(0, 1, 5);
  job.begin_receive(1, 0, 5);
  std::vector<RankDump> alone{job.dump.ranks[1]};
  settle_recorded_messages(alone);
  job.dump.ranks[1] = alone.front();
  EXPECT_EQ(job.operations(1, OpClass::receive)[0].status, OpStatus::unknown);
  job.settle();
  EXPECT_EQ(job.operations(1, OpClass::receive)[0].status, OpStatus::matched);
  EXPECT_EQ(job.operations(0, OpClass::send)[0].status, OpStatus::matched);
  EXPECT_TRUE(is_whole(job.unexpected(1)));
}

/// Recording was off, the communicator has no number of its own, or receives were left out.
TEST(RecordedMessages, WhatIsNotWholeProvesNothing) {
  const auto settled = [](auto spoil) {
    RecordedJob job(2);
    job.begin_send(0, 1, 5);
    job.begin_receive(1, 0, 6);
    spoil(job);
    job.settle();
    EXPECT_EQ(job.unexpected(1).state, QueueState::unavailable);
    EXPECT_EQ(job.operations(0, OpClass::send)[0].status, OpStatus::unknown);
    return job.operations(1, OpClass::receive)[0].status;
  };
  const auto gap_at = [](std::int64_t rank) {
    return [rank](RecordedJob& job) { job.world(rank).recorded->whole = false; };
  };
  EXPECT_EQ(settled(gap_at(0)), OpStatus::unknown);
  EXPECT_EQ(settled(gap_at(1)), OpStatus::unknown);
  EXPECT_EQ(settled([](RecordedJob& job) {
              for (RankDump& rank : job.dump.ranks)
                rank.communicators.front().context.reset();
            }),
            OpStatus::unknown);
  EXPECT_EQ(settled([](RecordedJob& job) { job.world(1).queue(OpClass::receive).total = 2; }),
            OpStatus::pending); // nothing with its tag was sent
}

TEST(RecordedMessages, WhatMpiMprobeHasTakenStays) {
  RecordedJob job(2);
  job.begin_send(0, 1, 5);
  job.received(1, 0, 5);
  Operation taken;
  taken.kind = OpKind::message;
  taken.peer = {false, 0, 0};
  taken.tag.value = 5;
  job.world(1).queue(OpClass::unexpected).operations.push_back(taken);
  job.settle();
  EXPECT_TRUE(is_whole(job.unexpected(1)));
  EXPECT_EQ(job.unexpected(1).total, 1U);
  EXPECT_EQ(job.unexpected(1).operations.begin()->source, OpSource::dll);
  EXPECT_EQ(job.operations(0, OpClass::send)[0].status, OpStatus::matched);
}

TEST(RecordedMessages, PeersOfAnIntercommunicatorAreThoseOfTheOtherGroup) {
  RecordedJob job(4); // 0 and 1, 2 and 3
  for (std::int64_t rank = 0; rank < 4; ++rank) {
    Communicator& inter = job.world(rank);
    inter.kind = CommunicatorKind::inter;
    inter.size = 2;
    inter.local_rank = rank % 2;
    inter.group = rank < 2 ? RankList{0, 1} : RankList{2, 3};
    inter.remote.ranks = rank < 2 ? RankList{2, 3} : RankList{0, 1};
  }
  job.sent(0, 1, 5); // to rank 3
  job.begin_receive(3, 0, 5);
  job.begin_receive(1, 0, 5); // from rank 2
  job.settle();
  EXPECT_EQ(job.operations(3, OpClass::receive)[0].status, OpStatus::matched);
  EXPECT_EQ(job.operations(3, OpClass::receive)[0].actual->global_rank, 0);
  EXPECT_EQ(job.operations(1, OpClass::receive)[0].status, OpStatus::pending);
  for (std::int64_t rank = 0; rank < 4; ++rank)
    EXPECT_TRUE(is_whole(job.unexpected(rank)));
}

} // namespace
} // namespace mqbridge
