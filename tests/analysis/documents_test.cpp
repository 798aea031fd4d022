#include "tests/analysis/documents.h"
#include "tests/analysis/scene.h"

#include <gmock/gmock.h>

namespace mqbridge::sim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

// Expected values are those of dumps of real jobs (Open MPI 4.1.4, ob1) that ran these programs
// with random_program.c, but for addresses and what MPI_Comm_dup and MPI_Comm_split have counted.

Scene end_of(const char* text, const Sight& sight = {}) {
  return *play(parse_program(text), sight, 5);
}

const Communicator& communicator(const Scene& scene, std::size_t rank, char comm) {
  return scene.dump.ranks.at(rank).communicators.at(communicators.find(comm));
}

const Operation& operation(const Scene& scene, std::size_t rank, char comm, OpClass op_class,
                           std::size_t index = 0) {
  return communicator(scene, rank, comm).queue(op_class).operations.at(index);
}

const BlockedCall& call(const Scene& scene, std::size_t rank) {
  return scene.dump.ranks.at(rank).blocked_in->front();
}

constexpr const char* five = "ranks 5\n"
                             "0: isend D 1 5 large r0; irecv W * 7 r1; waitall r0 r1\n"
                             "1: barrier W\n"
                             "2: barrier W\n"
                             "3: irecv W 0 3 r0; ibarrier H r1; irecv D * * r2; waitany r0 r1 r2\n"
                             "4: sendrecv W 2 4 large 1 5\n";

TEST(Document, HasAWaitForAll) {
  const Scene scene = end_of(five);
  EXPECT_THAT(call(scene, 0).call, Optional(std::string("MPI_Waitall")));
  EXPECT_FALSE(call(scene, 0).request);
  for (const auto* op :
       {&operation(scene, 0, 'D', OpClass::send), &operation(scene, 0, 'W', OpClass::receive)}) {
    EXPECT_EQ(op->waited.group, 1U);
    EXPECT_EQ(op->waited.count, 2U);
    EXPECT_EQ(op->waited.mode, WaitMode::all);
    EXPECT_FALSE(op->waited.unseen);
  }
  EXPECT_EQ(operation(scene, 0, 'D', OpClass::send).sequence, 1U);
  EXPECT_TRUE(operation(scene, 0, 'W', OpClass::receive).peer.any);
}

TEST(Document, HasAWaitForAnyWithSomethingUnseen) {
  const Scene scene = end_of(five);
  for (const auto* op :
       {&operation(scene, 3, 'W', OpClass::receive), &operation(scene, 3, 'D', OpClass::receive)}) {
    EXPECT_EQ(op->waited.count, 1U);
    EXPECT_EQ(op->waited.mode, WaitMode::any);
    EXPECT_TRUE(op->waited.unseen);
  }
  const auto& inside = operation(scene, 3, 'H', OpClass::receive);
  EXPECT_EQ(inside.collective, mqbridge::Collective::nonblocking);
  EXPECT_EQ(inside.tag.value, -27);
  EXPECT_EQ(inside.peer.local_rank, 0);
  EXPECT_EQ(inside.peer.global_rank, 2);
  EXPECT_FALSE(inside.waited);
  EXPECT_EQ(inside.source, OpSource::mqbridge);
}

TEST(Document, HasTheInsideOfABarrier) {
  const Scene scene = end_of(five);
  EXPECT_EQ(call(scene, 1).communicator, TargetAddress{0});
  EXPECT_FALSE(call(scene, 1).request);
  const auto& receive = operation(scene, 1, 'W', OpClass::receive);
  EXPECT_EQ(receive.collective, mqbridge::Collective::barrier);
  EXPECT_EQ(receive.tag.value, -16);
  EXPECT_EQ(receive.peer.local_rank, 0);
  const auto& arrived = operation(scene, 0, 'W', OpClass::unexpected);
  EXPECT_EQ(arrived.collective, mqbridge::Collective::barrier);
  EXPECT_EQ(arrived.protocol, Protocol::eager);
  EXPECT_EQ(arrived.kind, OpKind::message);
}

TEST(Document, HasMessagesThatNobodyReceives) {
  const Scene scene = end_of(five);
  const auto& arrived = operation(scene, 2, 'W', OpClass::unexpected);
  EXPECT_EQ(arrived.protocol, Protocol::rendezvous);
  EXPECT_EQ(arrived.length.value, large_bytes);
  EXPECT_EQ(arrived.sequence, operation(scene, 4, 'W', OpClass::send).sequence);
}

TEST(Document, HasTheRequestOfACallThatHasOne) {
  const Scene scene = end_of("ranks 4\n0: recv W 1 1\n1: sendrecv W 2 1 small 3 1\n"
                             "2: sendrecv W 3 2 large 1 4\n3: probe D 1 1\n");
  EXPECT_EQ(call(scene, 0).request, operation(scene, 0, 'W', OpClass::receive).request);
  EXPECT_EQ(call(scene, 0).communicator, TargetAddress{0});
  EXPECT_THAT(call(scene, 1).request_unique, Optional(true));
  EXPECT_THAT(call(scene, 2).request_unique, Optional(false)); // and its receive
  EXPECT_EQ(call(scene, 2).request, operation(scene, 2, 'W', OpClass::send).request);
  EXPECT_EQ(call(scene, 3).communicator, TargetAddress{3});
  EXPECT_EQ(operation(scene, 3, 'D', OpClass::receive).kind, OpKind::probe);
}

TEST(Document, HasRequestsThatAreCompleteOrInactive) {
  const Scene scene = end_of("ranks 2\n0: irecv W 1 3 r0; recv_init W 1 4 r1; recv W 1 9\n"
                             "1: send W 0 3 small; forever\n");
  EXPECT_EQ(operation(scene, 0, 'W', OpClass::receive, 0).status, OpStatus::complete);
  EXPECT_EQ(operation(scene, 0, 'W', OpClass::receive, 1).status, OpStatus::pending);
  EXPECT_EQ(operation(scene, 0, 'W', OpClass::receive, 2).status, OpStatus::inactive);
  EXPECT_FALSE(call(scene, 1).call);
}

TEST(Document, HasRanksThatLeaveAndThatHaveLeft) {
  const Scene scene = end_of("ranks 3\n0: recv W 1 1\n1:\n2: exit\n");
  EXPECT_THAT(call(scene, 1).call, Optional(std::string("MPI_Finalize")));
  EXPECT_EQ(scene.dump.ranks[1].mpi->state, MpiState::finalizing);
  EXPECT_EQ(scene.dump.ranks[2].status, RankStatus::failed);
  EXPECT_EQ(scene.dump.ranks[2].errors.front().code, "attach.no_such_process");
}

TEST(Document, CountsWhatEachChannelHasSeen) {
  const Scene scene =
      end_of("ranks 2\n0: send W 1 1 small; send W 1 1 small\n1: recv W 0 1\n", {.base = 65535});
  const auto& sender = *communicator(scene, 0, 'W').counters;
  const auto& receiver = *communicator(scene, 1, 'W').counters;
  EXPECT_EQ(sender.peers.at(1).sent, 1); // modulo 65536
  EXPECT_EQ(receiver.peers.at(0).arrived, 1);
  EXPECT_EQ(operation(scene, 1, 'W', OpClass::unexpected).sequence, 1U);
}

TEST(Document, ListsThoseThatHadTraffic) {
  const Scene scene = end_of("ranks 3\n0: send W 1 1 small\n1: recv W 0 1\n");
  EXPECT_EQ(communicator(scene, 0, 'W').counters->peers.size(), 1U);
  EXPECT_THAT(communicator(scene, 2, 'W').counters->peers, IsEmpty());
}

TEST(Document, HasCommunicatorsWithTheirGroups) {
  const Scene scene = end_of("ranks 5\n");
  EXPECT_THAT(*communicator(scene, 2, 'E').group, ElementsAre(4, 2, 0));
  EXPECT_EQ(communicator(scene, 2, 'E').local_rank, 1);
  EXPECT_EQ(communicator(scene, 2, 'E').id, communicator(scene, 1, 'E').id);
  EXPECT_NE(communicator(scene, 2, 'E').key, communicator(scene, 1, 'E').key);
  EXPECT_EQ(communicator(scene, 2, 'E').key, communicator(scene, 0, 'E').key);
}

TEST(Scene, LeavesOutWhatItsSightLeavesOut) {
  const char* program = "ranks 3\n0: recv W 1 1\n";
  const Scene blind = end_of(program, {.missing = 1, .omissions = {.counters = true}});
  EXPECT_EQ(blind.dump.ranks.size(), 2U);
  EXPECT_FALSE(communicator(blind, 0, 'W').counters);
  const Scene stackless = end_of(program, {.omissions = {.stacks = true}});
  EXPECT_FALSE(stackless.dump.ranks[0].blocked_in);
  EXPECT_EQ(end_of(program, {.looks = 2}).dump.earlier.size(), 1U);
}

// The same ring of messages in each look, and seen at other moments: no look is before the last
// one.
TEST(Scene, OfSpreadStopsIsOneOfARun) {
  const Program program =
      parse_program("ranks 2\n0: send W 1 1 small; recv W 1 1; send W 1 1 small\n"
                    "1: recv W 0 1; send W 0 1 small; recv W 0 1\n");
  bool spread = false;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto scene = play(program, {.to_the_end = false, .skew = 8}, seed);
    const auto calls = [&](std::size_t rank) { return call(*scene, rank).line; };
    spread = spread || calls(0) != static_cast<std::int64_t>(scene->world.rank(0).at) + 1;
    EXPECT_LE(*calls(0), static_cast<std::int64_t>(scene->world.rank(0).at) + 1);
    EXPECT_LE(*calls(1), static_cast<std::int64_t>(scene->world.rank(1).at) + 1);
  }
  EXPECT_TRUE(spread);
}

} // namespace
} // namespace mqbridge::sim
