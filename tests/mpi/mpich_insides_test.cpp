// What MPICH's own lists have of its collectives, on four platforms. Context ids and tags are those
// that a real job of MPICH 4.0.2 had (gdb): MPI_Barrier on a communicator of context id 496 posts a
// receive with 499 and tag 1, MPI_Allreduce on MPI_COMM_WORLD one with 1 and tag 14.

#include "tests/mpi/fake_mpich.h"

#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr std::int64_t collective = 1;
constexpr std::int64_t node = 2;
constexpr std::int64_t roots = 4;
constexpr std::int64_t local_side = 8;

class MpichInsides : public testing::TestWithParam<Platform> {
protected:
  MpichInsides() { request.op_classes = {OpClass::send, OpClass::receive, OpClass::unexpected}; }

  void added() {
    const auto done = mpich.add_insides(request);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_FALSE(done->lacking);
    EXPECT_FALSE(done->damage);
  }
  const Queue& queue(OpClass op_class, std::size_t communicator = 0) {
    return mpich.communicators.at(communicator).queue(op_class);
  }

  FakeMpich mpich{GetParam(), MpichVersion::v4_0};
  std::size_t world = mpich.communicator("MPI_COMM_WORLD", 1, {0, 1, 2, 3});
  UnshownRequest request;
};

INSTANTIATE_TEST_SUITE_P(, MpichInsides, testing::ValuesIn(test_platforms()),
                         [](const auto& of) { return platform_name(of.param); });

TEST_P(MpichInsides, AReceiveOfACollectiveStandsBesideTheProgramsOwn) {
  const auto row = mpich.communicator("row", 2, {3, 2, 1, 0});
  mpich.operation(OpClass::receive, row, {.tag = 14, .rank = 0});
  const auto request_of_it =
      mpich.inside(OpClass::receive, row, collective, {.tag = 14, .rank = 1});
  added();
  ASSERT_THAT(queue(OpClass::receive, row).operations, SizeIs(2));
  EXPECT_EQ(queue(OpClass::receive, row).total, 2);
  EXPECT_EQ(queue(OpClass::receive, row).operations[0].collective, Collective::none);
  EXPECT_EQ(queue(OpClass::receive, row).operations[0].source, OpSource::dll);
  const Operation& inside = queue(OpClass::receive, row).operations[1];
  EXPECT_EQ(inside.collective, Collective::allreduce);
  EXPECT_EQ(inside.source, OpSource::mqbridge);
  EXPECT_EQ(inside.kind, OpKind::receive);
  EXPECT_EQ(inside.status, OpStatus::pending);
  EXPECT_EQ(inside.peer.local_rank, 1);
  EXPECT_EQ(inside.peer.global_rank, 2);
  EXPECT_EQ(inside.request, TargetAddress{request_of_it});
  EXPECT_THAT(queue(OpClass::receive, world).operations, IsEmpty());
}

TEST_P(MpichInsides, MessagesOfCollectivesAreThoseThatHaveArrived) {
  mpich.inside(OpClass::unexpected, world, collective, {.tag = 1, .rank = 3});
  mpich.operation(OpClass::unexpected, world, {.tag = 1, .rank = 2});
  added();
  ASSERT_THAT(queue(OpClass::unexpected).operations, SizeIs(2));
  EXPECT_EQ(queue(OpClass::unexpected).operations[0].collective, Collective::none);
  const Operation& message = queue(OpClass::unexpected).operations[1];
  EXPECT_EQ(message.collective, Collective::barrier);
  EXPECT_EQ(message.kind, OpKind::message);
  EXPECT_EQ(message.peer.global_rank, 3);
}

/// Ranks 0 and 2 are on one node, 1 and 3 on another one.
TEST_P(MpichInsides, PeersOfANodeAndOfTheNodesRootsAreThoseOfTheWholeCommunicator) {
  mpich.set_ranks(world, "intranode_table", {-1, 0, -1, 1});
  mpich.set_ranks(world, "internode_table", {0, 1, 0, 1});
  mpich.inside(OpClass::receive, world, collective + node, {.tag = 1, .rank = 1});
  mpich.inside(OpClass::receive, world, collective + roots, {.tag = 1, .rank = 1});
  mpich.inside(OpClass::receive, world, collective + node, {.tag = 1, .rank = 7});
  added();
  const auto& receives = queue(OpClass::receive).operations;
  ASSERT_THAT(receives, SizeIs(3));
  EXPECT_EQ(receives[0].peer.local_rank, 3);
  EXPECT_EQ(receives[1].peer.local_rank, 1) << "the first of its node";
  EXPECT_FALSE(receives[2].peer.local_rank || receives[2].peer.any) << "there is no such rank";
}

TEST_P(MpichInsides, ATableThatCannotBeReadLeavesThePeerUnknown) {
  mpich.set(mpich.object(world), "MPIR_Comm", "intranode_table", 0x66660000);
  mpich.inside(OpClass::receive, world, collective + node, {.tag = 1, .rank = 1});
  mpich.inside(OpClass::receive, world, collective + node + roots, {.tag = 1, .rank = 1});
  added();
  ASSERT_THAT(queue(OpClass::receive).operations, SizeIs(2));
  for (const Operation& operation : queue(OpClass::receive).operations)
    EXPECT_FALSE(operation.peer.local_rank || operation.peer.global_rank || operation.peer.any);
}

TEST_P(MpichInsides, TheTagTellsWhichOneItIs) {
  const std::pair<std::int64_t, Collective> cases[] = {
      {2, Collective::bcast},         {11, Collective::reduce},
      {13, Collective::reduce},       {17, Collective::reduce_scatter},
      {20, Collective::scan},         {24, Collective::exscan},
      {25, Collective::alltoallw},    {28, Collective::reduce_scatter_block},
      {0, Collective::internal},      {29, Collective::internal},
      {286, Collective::internal},    {287, Collective::nonblocking},
      {5000, Collective::nonblocking}};
  for (const auto& [tag, name] : cases)
    mpich.inside(OpClass::receive, world, collective, {.tag = tag, .rank = 0});
  added();
  ASSERT_THAT(queue(OpClass::receive).operations, SizeIs(std::size(cases)));
  for (std::size_t i = 0; i < std::size(cases); ++i)
    EXPECT_EQ(queue(OpClass::receive).operations[i].collective, cases[i].second) << cases[i].first;
}

TEST_P(MpichInsides, OfAnIntercommunicatorPeersAreOfTheSideThatTheContextNames) {
  const auto inter = mpich.communicator("inter", 0, {1, 2});
  mpich.set(mpich.object(inter), "MPIR_Comm", "comm_kind", 1);
  mpich.set_table(inter, "local_vcrt", mpich.table_of(inter));
  const auto others = mpich.communicator("others", 0, {3, 0});
  mpich.set_table(inter, "vcrt", mpich.table_of(others));
  mpich.inside(OpClass::receive, inter, collective, {.tag = 2, .rank = 0});
  mpich.inside(OpClass::receive, inter, collective + local_side, {.tag = 2, .rank = 1});
  added();
  const auto& receives = queue(OpClass::receive, inter).operations;
  ASSERT_THAT(receives, SizeIs(2));
  EXPECT_EQ(receives[0].peer.local_rank, 0);
  EXPECT_EQ(receives[0].peer.global_rank, 3) << "the remote side's first";
  EXPECT_FALSE(receives[1].peer.local_rank) << "that would be a rank of the remote side";
  EXPECT_EQ(receives[1].peer.global_rank, 2) << "this side's second";
}

TEST_P(MpichInsides, ThereIsNoneOfAnotherCommunicatorNorWithoutTheBit) {
  mpich.inside(OpClass::receive, world, 16 * 77 + collective, {.tag = 1, .rank = 0});
  mpich.inside(OpClass::receive, world, node, {.tag = 1, .rank = 0});
  added();
  EXPECT_THAT(queue(OpClass::receive).operations, IsEmpty());
  EXPECT_EQ(queue(OpClass::receive).total, 0);
}

TEST_P(MpichInsides, WhatIsNotAskedForOrTooMuchStaysOut) {
  for (int i = 0; i < 5; ++i)
    mpich.inside(OpClass::receive, world, collective, {.tag = 1, .rank = i % 4});
  request.keep = [](const Communicator&, const Operation& operation) {
    return operation.peer.global_rank == 3; // it is known by then
  };
  request.max_operations = 4;
  added();
  ASSERT_THAT(queue(OpClass::receive).operations, SizeIs(1));
  EXPECT_EQ(queue(OpClass::receive).truncated_by, TruncatedBy::operations);
  EXPECT_FALSE(queue(OpClass::receive).total);

  FakeMpich other(GetParam(), MpichVersion::v4_0);
  other.communicator("MPI_COMM_WORLD", 1, {0, 1});
  other.inside(OpClass::receive, 0, collective, {.tag = 1, .rank = 0});
  request.op_classes = {OpClass::unexpected};
  ASSERT_TRUE(other.add_insides(request));
  EXPECT_THAT(other.communicators[0].queue(OpClass::receive).operations, IsEmpty());
}

TEST_P(MpichInsides, AQueueThatWasNotReadStaysAsItIs) {
  mpich.inside(OpClass::receive, world, collective, {.tag = 1, .rank = 0});
  mpich.communicators[world].queue(OpClass::receive).state = QueueState::error;
  added();
  EXPECT_THAT(queue(OpClass::receive).operations, IsEmpty());
}

} // namespace
} // namespace mqbridge
