// What changed between two documents: found, and as text.

#include "host/analysis/compare.h"
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
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// Ranks in MPI_Recv, each with one receive, whose request is known, and counters.
Dump job(int ranks) {
  Dump dump = ring_dump(ranks);
  dump.taken_at = "2026-11-05T08:00:00.000Z";
  for (RankDump& rank : dump.ranks) {
    rank.pid = 100 + *rank.rank;
    rank.blocked_in = {{.thread = 1, .call = "MPI_Recv", .file = "halo.c", .line = 212}};
    Communicator& world = rank.communicators[0];
    world.counters = MessageCounters{65536, 0, {{1, 65'530, 7}}};
    Operation operation = world.queue(OpClass::receive).operations[0];
    operation.request = TargetAddress{0x1000};
    world.queue(OpClass::receive) = available({operation});
    for (const OpClass op_class : op_classes)
      world.queue(op_class).total = world.queue(op_class).operations.size();
    world.queue(OpClass::send) = available({});
    world.queue(OpClass::send).total = 0;
    world.queue(OpClass::unexpected) = available({});
    world.queue(OpClass::unexpected).total = 0;
  }
  return dump;
}

Dump later(Dump dump) {
  dump.taken_at = "2026-11-05T08:00:05.000Z";
  return dump;
}

Queue& receives(Dump& dump, std::size_t rank) {
  return dump.ranks[rank].communicators[0].queue(OpClass::receive);
}

void set(Queue& queue, const std::vector<Operation>& operations) {
  queue = available(operations);
  queue.total = operations.size();
}

RankChanges only(const Dump& before, const Dump& after) {
  const auto changes = compare(before, after);
  EXPECT_EQ(changes.ranks.size(), 1U);
  return changes.ranks.at(0);
}

TEST(Compare, WhatDidNotMoveIsTheSame) {
  const auto same = only(job(1), later(job(1)));
  EXPECT_EQ(same.change, RankChange::same);
  EXPECT_EQ(same.stayed, 1U);
  EXPECT_THAT(same.channels, Optional(IsEmpty()));
  EXPECT_THAT(same.unsure, IsEmpty());
}

TEST(Compare, AnOperationIsTheSameByItsRequest) {
  const Dump before = job(1);
  Dump after = job(1);
  Operation operation = receives(after, 0).operations[0];
  operation.request = TargetAddress{0x2000};
  set(receives(after, 0), {operation});
  const auto changes = only(before, after);
  EXPECT_EQ(changes.change, RankChange::moved);
  EXPECT_EQ(changes.stayed, 0U);
  ASSERT_EQ(changes.gone.size(), 1U);
  EXPECT_EQ(changes.gone[0].count, 1U);
  EXPECT_EQ(changes.appeared.size(), 1U);
}

/// The MPI takes a request that has ended for the next operation.
TEST(Compare, ARequestThatIsUsedAgainIsAnotherOperation) {
  const Dump before = job(1);
  Dump after = job(1);
  Operation operation = receives(after, 0).operations[0];
  operation.tag.value = 99;
  set(receives(after, 0), {operation});
  EXPECT_EQ(only(before, after).gone.size(), 1U);
  operation = receives(after, 0).operations[0];
  Dump numbered = job(1);
  operation = receives(numbered, 0).operations[0];
  operation.sequence = 5;
  set(receives(numbered, 0), {operation});
  Dump next = numbered;
  operation.sequence = 6;
  set(receives(next, 0), {operation});
  EXPECT_EQ(only(numbered, next).stayed, 0U);
  EXPECT_EQ(only(numbered, numbered).stayed, 1U);
}

TEST(Compare, WithoutRequestsAlikeOperationsCount) {
  Dump before = job(1);
  Dump after = job(1);
  Operation operation = receives(after, 0).operations[0];
  operation.request = {};
  set(receives(before, 0), {operation, operation, operation});
  set(receives(after, 0), {operation});
  const auto changes = only(before, after);
  EXPECT_EQ(changes.stayed, 1U);
  ASSERT_EQ(changes.gone.size(), 1U);
  EXPECT_EQ(changes.gone[0].count, 2U);
  EXPECT_THAT(changes.appeared, IsEmpty());
}

TEST(Compare, OfAQueueThatIsNotWholeNothingIsGone) {
  const Dump before = job(1);
  Dump after = job(1);
  set(receives(after, 0), {});
  receives(after, 0).truncated_by = TruncatedBy::max_stop;
  const auto cut = only(before, after);
  EXPECT_THAT(cut.gone, IsEmpty());
  EXPECT_THAT(cut.unsure, ElementsAre(OpClass::receive));
  const auto back = only(after, before);
  EXPECT_THAT(back.appeared, IsEmpty()) << "it may have been there";
  receives(after, 0) = available({});
  receives(after, 0).total = 3; // filters
  EXPECT_THAT(only(before, after).gone, IsEmpty());
  receives(after, 0) = unavailable(QueueReason::not_provided);
  EXPECT_THAT(only(before, after).gone, IsEmpty());
}

TEST(Compare, CountersMoveModuloWhatTheMpiCountsIn) {
  Dump after = job(1);
  after.ranks[0].communicators[0].counters->peers = {{1, 4, 7}, {2, 1, {}}};
  const auto changes = only(job(1), after);
  ASSERT_EQ(changes.channels->size(), 2U);
  EXPECT_EQ((*changes.channels)[0].sent, 10) << "65530 to 4";
  EXPECT_EQ((*changes.channels)[0].arrived, 0);
  EXPECT_EQ((*changes.channels)[1].peer, 2);
  EXPECT_EQ((*changes.channels)[1].sent, 1) << "there was no traffic before";
  EXPECT_EQ((*changes.channels)[1].arrived, std::nullopt);
  after.ranks[0].communicators[0].counters.reset();
  EXPECT_EQ(only(job(1), after).channels, std::nullopt);
}

TEST(Compare, CallsMoveByPlaceAndThread) {
  Dump after = job(1);
  after.ranks[0].blocked_in->front().line = 213;
  EXPECT_TRUE(only(job(1), after).calls_moved);
  after.ranks[0].blocked_in.reset();
  EXPECT_FALSE(only(job(1), after).calls_moved) << "not known";
}

TEST(Compare, RanksAreNewGoneOthersOrUnknown) {
  Dump before = job(4);
  Dump after = job(4);
  before.ranks.erase(before.ranks.begin());
  after.ranks.erase(after.ranks.begin() + 1);
  after.ranks[1].pid = 999;
  after.ranks[2].status = RankStatus::failed;
  std::vector<RankChange> changes;
  for (const RankChanges& rank : compare(before, after).ranks)
    changes.push_back(rank.change);
  EXPECT_THAT(changes, ElementsAre(RankChange::appeared, RankChange::gone,
                                   RankChange::other_process, RankChange::unknown));
}

TEST(Compare, ACommunicatorAtTheAddressOfAFreedOneIsAnother) {
  Dump before = job(1);
  Dump after = job(1);
  before.ranks[0].communicators[0].context = 3;
  before.ranks[0].communicators[0].name = "old";
  after.ranks[0].communicators[0].context = 4;
  after.ranks[0].communicators[0].key = "C1";
  const auto changes = only(before, after);
  EXPECT_EQ(changes.stayed, 0U);
  EXPECT_EQ(changes.gone.at(0).kind.communicator, "old");
  EXPECT_EQ(changes.appeared.at(0).kind.communicator, "C1");
}

std::string changes_text(const Dump& before, Dump after, TextOptions options = {}) {
  after.analysis.emplace().changes = compare(before, after);
  const auto text = written([&](const Sink& sink) { write_verdict(after, options, sink); });
  return text.substr(std::min(text.size(), text.find("CHANGES")));
}

TEST(ChangesText, FoldsAlikeRanksAndLinesUp) {
  Dump after = later(job(4));
  RankDump& moved = after.ranks[2];
  moved.blocked_in = {{.thread = 1, .file = "solve.c", .line = 41, .function = "compute"}};
  moved.communicators[0].counters->peers = {{1, 65'535, 10}};
  moved.communicators[0].key = "C1";
  set(receives(after, 2), {});
  EXPECT_EQ(changes_text(job(4), after),
            R"(CHANGES  in 5.0 s: 1 rank moved, 3 did not move
moved    rank 2       was in MPI_Recv at halo.c:212; now outside MPI: compute at solve.c:41;
                      messages: 5 sent, 3 arrived; operations: 1 gone, 0 as before
                      messages on C1: 5 to 1, 3 from 1
                      gone: recv from 1 tag 17, 8 B on C1
same     ranks 0,1,3  in MPI_Recv at halo.c:212; no message moved; operations: 1 as before
)");
}

TEST(ChangesText, OfThousandsOfRanksIsShortAndWithFullWhole) {
  const Dump before = job(3000);
  Dump after = later(job(3000));
  for (std::size_t rank = 0; rank < 1000; ++rank) {
    after.ranks[rank].blocked_in->front().line = static_cast<std::int64_t>(rank);
    set(receives(after, rank), {});
  }
  const auto text = changes_text(before, after);
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 40);
  EXPECT_THAT(text, StartsWith("CHANGES  in 5.0 s: 1000 ranks moved, 2000 did not move\n"));
  EXPECT_THAT(text, HasSubstr("more kinds: --full"));
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    EXPECT_LE(line.size(), 100U) << line;
  TextOptions full;
  full.full = true;
  const auto whole = changes_text(before, after, full);
  EXPECT_THAT(whole, HasSubstr("ranks 1000-2999"));
  EXPECT_THAT(whole, Not(HasSubstr("--full")));
}

} // namespace
} // namespace mqbridge::test
