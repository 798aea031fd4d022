#include "host/dump/filters.h"
#include "host/dump/take_dump.h"

#include <gtest/gtest.h>

namespace mqbridge {
namespace {

Operation operation(std::optional<std::int64_t> peer, std::optional<std::int64_t> tag) {
  Operation result;
  result.peer = {!peer, peer, peer};
  result.tag = {!tag, tag};
  return result;
}

std::vector<Communicator> sample() {
  Communicator world;
  world.name = "MPI_COMM_WORLD";
  auto& queue = world.queue(OpClass::receive);
  queue.total = 4;
  queue.operations = {operation(1, 10), operation(2, 20), operation({}, 10), operation(1, {})};
  Communicator halo;
  halo.name = "halo";
  return {world, halo};
}

TEST(Filters, NothingAskedForKeepsEverything) {
  auto all = sample();
  apply_filters({}, all);
  EXPECT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].queue(OpClass::receive).operations.size(), 4U);
}

TEST(Filters, CommunicatorsByName) {
  auto all = sample();
  Filters filters;
  filters.communicators = {"halo"};
  apply_filters(filters, all);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].name, "halo");
}

TEST(Filters, TagAndPeerKeepWildcardsAndTheTotal) {
  auto all = sample();
  Filters filters;
  filters.tags = {20};
  filters.peers = {1};
  apply_filters(filters, all);
  const auto& queue = all[0].queue(OpClass::receive);
  ASSERT_EQ(queue.operations.size(), 1U)
      << "from 1 with any tag: the only one that may match tag 20 of peer 1";
  EXPECT_TRUE(queue.operations[0].tag.any);
  EXPECT_EQ(queue.total, 4U);
}

TEST(TargetSpec, RankBeforeTheEndpoint) {
  auto spec = TargetSpec::parse("12=node:7001");
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->rank, 12);
  EXPECT_EQ(spec->endpoint.text, "node:7001");
  EXPECT_EQ(TargetSpec::parse("node:7001")->rank, std::nullopt);
  EXPECT_EQ(TargetSpec::parse("exec:A=1 run")->rank, std::nullopt)
      << "an = inside a command is not a rank's";
  EXPECT_EQ(TargetSpec::parse("99999999999=node:7001").error().code, "target.syntax");
  EXPECT_FALSE(TargetSpec::parse("=node:7001"));
}

} // namespace
} // namespace mqbridge
