#include "host/dump/take_dump.h"
#include "host/dump/values/filters.h"

#include <gtest/gtest.h>

namespace mqbridge {
namespace {

Operation operation(std::optional<std::int64_t> peer, std::optional<std::int64_t> tag) {
  Operation result;
  result.peer = {!peer, peer, peer};
  result.tag = {!tag, tag};
  return result;
}

TEST(Filters, NothingAskedForWantsEverything) {
  EXPECT_TRUE(wanted({}, operation(1, 10)));
  EXPECT_TRUE(wanted({}, Communicator{}));
  EXPECT_TRUE(wanted({}, 7));
}

TEST(Filters, CommunicatorsByName) {
  Filters filters;
  filters.communicators = {"halo", "row"};
  Communicator communicator;
  communicator.name = "row";
  EXPECT_TRUE(wanted(filters, communicator));
  communicator.name = "MPI_COMM_WORLD";
  EXPECT_FALSE(wanted(filters, communicator));
}

TEST(Filters, Ranks) {
  Filters filters;
  filters.ranks = {0, 3};
  EXPECT_TRUE(wanted(filters, 3));
  EXPECT_FALSE(wanted(filters, 1));
}

TEST(Filters, TagAndPeerWantWildcards) {
  Filters filters;
  filters.tags = {20};
  filters.peers = {1};
  EXPECT_TRUE(wanted(filters, operation(1, 20)));
  EXPECT_FALSE(wanted(filters, operation(1, 10)));
  EXPECT_FALSE(wanted(filters, operation(2, 20)));
  EXPECT_TRUE(wanted(filters, operation({}, 20))) << "ANY_SOURCE may match peer 1";
  EXPECT_TRUE(wanted(filters, operation(1, {}))) << "ANY_TAG may match tag 20";
  EXPECT_FALSE(wanted(filters, operation({}, 10)));
}

/// Inside a collective the MPI uses tags of its own, which nobody can ask for.
TEST(Filters, WhatTheMpiDoesInsideACollectiveIsAlwaysWanted) {
  Filters filters;
  filters.tags = {20};
  filters.peers = {1};
  Operation inside = operation(2, -12);
  EXPECT_FALSE(wanted(filters, inside)) << "the program's own";
  inside.collective = Collective::barrier;
  EXPECT_TRUE(wanted(filters, inside));
}

TEST(Filters, DropWhatWasKeptUntilAllRanksAreThere) {
  Communicator communicator;
  for (const OpClass op_class : op_classes) {
    Queue& queue = communicator.queue(op_class);
    queue.state = QueueState::available;
    queue.operations.push_back(operation(1, 10));
    queue.operations.push_back(operation(1, 20));
    queue.total = 2;
  }
  std::vector<Communicator> all{communicator};
  Filters filters;
  drop_unwanted(all, filters);
  EXPECT_EQ(all.front().queue(OpClass::send).operations.size(), 2U);
  filters.tags = {20};
  filters.queues = {OpClass::unexpected};
  drop_unwanted(all, filters);
  Queue& unexpected = all.front().queue(OpClass::unexpected);
  EXPECT_EQ(unexpected.state, QueueState::available);
  EXPECT_EQ(unexpected.total, 2U);
  ASSERT_EQ(unexpected.operations.size(), 1U);
  EXPECT_EQ(unexpected.operations.front().tag.value, 20);
  EXPECT_EQ(all.front().queue(OpClass::send).state, QueueState::not_requested);
}

TEST(TargetSpec, RankBeforeTheEndpoint) {
  auto spec = TargetSpec::parse("12=node:7001");
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->rank, 12);
  EXPECT_EQ(spec->text(), "node:7001");
  EXPECT_EQ(TargetSpec::parse("node:7001")->rank, std::nullopt);
  EXPECT_EQ(TargetSpec::parse("exec:A=1 run")->rank, std::nullopt)
      << "an = inside a command is not a rank's";
  EXPECT_EQ(TargetSpec::parse("99999999999=node:7001").error().code, "target.syntax");
  EXPECT_FALSE(TargetSpec::parse("=node:7001"));
}

} // namespace
} // namespace mqbridge
