// Walks with a DLL that behaves: what it finds in the target's memory arrives, on every platform.

#include "tests/mqs/test_target.h"

#include <algorithm>
#include <chrono>
#include <gmock/gmock.h>
#include <thread>

namespace mqbridge {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::vector<TestCommunicator> two_communicators = {
    {0x100,
     1,
     "MPI_COMM_WORLD",
     {0, 1, 2},
     {{OpClass::receive, 2, 17, 4096, 0x1000},
      {OpClass::send, 0, 18, 8, 0x2000},
      {OpClass::receive, -1, -1, 1, 0}}},
    {0x200, 0, "reversed", {2, 1, 0}, {{OpClass::send, 2, 5, 16, 0x3000}}},
};

class Walk : public testing::TestWithParam<Platform> {};

INSTANTIATE_TEST_SUITE_P(, Walk, testing::ValuesIn(test_platforms()),
                         [](const auto& of) { return platform_name(of.param); });

TEST_P(Walk, FindsWhatIsThere) {
  TestTarget target(GetParam(), two_communicators);
  const auto result = walk_queues(target.request("list"));
  ASSERT_FALSE(result.failure) << result.failure->message;
  EXPECT_EQ(result.dll_version, "list 1.0");
  EXPECT_EQ(result.dll_compatibility, 2);
  ASSERT_THAT(result.communicators, SizeIs(2));

  const auto& world = result.communicators[0];
  EXPECT_EQ(world.id, TargetAddress{0x100});
  EXPECT_EQ(world.name, "MPI_COMM_WORLD");
  EXPECT_EQ(world.local_rank, 1);
  EXPECT_EQ(world.size, 3);
  ASSERT_TRUE(world.group);
  EXPECT_THAT(*world.group, ElementsAre(0, 1, 2));

  const auto& receives = world.queue(OpClass::receive);
  EXPECT_EQ(receives.state, QueueState::available);
  EXPECT_EQ(receives.total, 2U);
  ASSERT_THAT(receives.operations, SizeIs(2));
  const auto& first = receives.operations[0];
  EXPECT_EQ(first.status, OpStatus::pending);
  EXPECT_EQ(first.peer.local_rank, 2);
  EXPECT_EQ(first.tag.value, 17);
  EXPECT_EQ(first.length.value, 4096);
  EXPECT_EQ(first.buffer, TargetAddress{0x1000});
  EXPECT_THAT(first.text, ElementsAre("from a list"));
  EXPECT_TRUE(receives.operations[1].peer.any);
  EXPECT_TRUE(receives.operations[1].tag.any);

  const auto& reversed = result.communicators[1];
  ASSERT_THAT(reversed.queue(OpClass::send).operations, SizeIs(1));
  EXPECT_EQ(reversed.queue(OpClass::send).operations[0].peer.local_rank, 2);
  EXPECT_EQ(reversed.queue(OpClass::send).operations[0].peer.global_rank, 0);
  EXPECT_EQ(reversed.queue(OpClass::receive).total, 0U);
}

TEST_P(Walk, SaysNotProvidedInsteadOfEmpty) {
  TestTarget target(GetParam(), two_communicators);
  const auto result = walk_queues(target.request("list"));
  for (const auto& communicator : result.communicators) {
    const auto& unexpected = communicator.queue(OpClass::unexpected);
    EXPECT_EQ(unexpected.state, QueueState::unavailable);
    EXPECT_EQ(unexpected.reason, QueueReason::not_provided);
    EXPECT_FALSE(unexpected.total);
  }
}

TEST_P(Walk, FindsFieldsOfATypeThatHasMoreThanOneAnswerHolds) {
  TestTarget target(GetParam(), two_communicators);
  target.widen_communicator(1000);
  const auto result = walk_queues(target.request("list"));
  ASSERT_FALSE(result.failure) << result.failure->message;
  ASSERT_THAT(result.communicators, SizeIs(2));
  EXPECT_EQ(result.communicators[1].name, "reversed");
  EXPECT_EQ(result.communicators[1].queue(OpClass::send).total, 1U);
}

class WalkOnce : public testing::Test {
protected:
  TestTarget target{test_platforms().front(), two_communicators};
};

TEST_F(WalkOnce, CountsTheFetchesOfTheDll) {
  const auto result = walk_queues(target.request("list"));
  EXPECT_GT(result.fetches, 50U);
  EXPECT_GT(result.fetch_bytes, result.fetches);
}

TEST_F(WalkOnce, GivesTheInfosBackInOrder) {
  const auto result = walk_queues(target.request("list"));
  EXPECT_FALSE(result.failure);
  EXPECT_THAT(result.dll_messages,
              ElementsAre("queues of solver found", "process destroyed", "image destroyed"));
}

TEST_F(WalkOnce, LeavesOutWhatWasNotAskedFor) {
  auto request = target.request("list");
  request.op_classes = {OpClass::send};
  const auto result = walk_queues(request);
  const auto& world = result.communicators.at(0);
  EXPECT_EQ(world.queue(OpClass::send).state, QueueState::available);
  EXPECT_EQ(world.queue(OpClass::receive).state, QueueState::not_requested);
  EXPECT_EQ(world.queue(OpClass::receive).reason, QueueReason::not_requested);
}

TEST_F(WalkOnce, CountsWhatAFilterDrops) {
  auto request = target.request("list");
  request.keep = [](const Communicator& communicator, OpClass, const Operation& operation) {
    return communicator.name == "MPI_COMM_WORLD" && operation.tag.value == 17;
  };
  const auto result = walk_queues(request);
  const auto& receives = result.communicators.at(0).queue(OpClass::receive);
  EXPECT_EQ(receives.total, 2U);
  EXPECT_THAT(receives.operations, SizeIs(1));
  EXPECT_THAT(result.communicators.at(1).queue(OpClass::send).operations, IsEmpty());
}

TEST_F(WalkOnce, StopsAtTheLimitOfAQueueAndSaysSo) {
  auto request = target.request("list");
  request.max_operations = 1;
  const auto result = walk_queues(request);
  ASSERT_FALSE(result.failure);
  const auto& receives = result.communicators.at(0).queue(OpClass::receive);
  EXPECT_EQ(receives.state, QueueState::available);
  EXPECT_EQ(receives.truncated_by, TruncatedBy::operations);
  EXPECT_FALSE(receives.total);
  EXPECT_THAT(receives.operations, SizeIs(1));
  const auto& sends = result.communicators.at(0).queue(OpClass::send);
  EXPECT_EQ(sends.truncated_by, TruncatedBy::nothing) << "exactly as many as allowed";
  EXPECT_EQ(sends.total, 1U);
}

TEST_F(WalkOnce, SendsManyOperationsInBatches) {
  TestCommunicator crowded{1, 0, "crowded", {0, 1}, {}};
  for (int i = 0; i < 3000; ++i)
    crowded.operations.push_back({OpClass::receive, i % 2, i, i, 0});
  TestTarget busy(test_platforms().front(), {crowded});
  auto request = busy.request("list");
  std::vector<std::uint64_t> seen;
  request.progress = [&](std::uint64_t operations) { seen.push_back(operations); };
  const auto result = walk_queues(request);
  const auto& operations = result.communicators.at(0).queue(OpClass::receive).operations;
  ASSERT_THAT(operations, SizeIs(3000));
  for (int i = 0; i < 3000; ++i)
    ASSERT_EQ(operations[static_cast<std::size_t>(i)].tag.value, i);
  EXPECT_GT(seen.size(), 2U);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(seen.back(), 3000U);
}

TEST_F(WalkOnce, ReadsAGroupOfManyRanks) {
  TestCommunicator large{1, 0, "large", {}, {}};
  for (int i = 0; i < 20000; ++i)
    large.group.push_back(i ^ 1);
  TestTarget many(test_platforms().back(), {large});
  const auto result = walk_queues(many.request("list"));
  ASSERT_TRUE(result.communicators.at(0).group);
  ASSERT_THAT(*result.communicators[0].group, SizeIs(20000));
  EXPECT_EQ(result.communicators[0].group->back(), 19998);
}

TEST_F(WalkOnce, AnUnreadableCommunicatorIsTheDllsError) {
  target.set_root(0x666000); // nothing is there
  const auto bad = walk_queues(target.request("list"));
  ASSERT_TRUE(bad.failure);
  EXPECT_EQ(bad.failure->code, "dll.failed");
  EXPECT_THAT(bad.failure->message, HasSubstr("mqs_get_communicator"));
}

TEST_F(WalkOnce, AnEmptyProcessHasNoCommunicators) {
  TestTarget empty(test_platforms().front());
  const auto result = walk_queues(empty.request("list"));
  EXPECT_FALSE(result.failure);
  EXPECT_THAT(result.communicators, IsEmpty());
}

TEST_F(WalkOnce, MissingTypesAreTheDllsOwnWords) {
  ImageSet without(std::vector<Image>(target.images.images()));
  const auto worker = test_worker();
  WalkRequest request{worker.program,
                      target.request("list").dll,
                      {without, target.memory, target.platform},
                      "solver"};
  request.sandboxed = worker.sandboxed;
  const auto result = walk_queues(request);
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->code, "dll.no_queues");
  EXPECT_THAT(result.failure->message, HasSubstr("a list is broken: no types in solver"));
}

TEST_F(WalkOnce, ALostConnectionEndsTheWalkWithItsOwnError) {
  target.memory.fail_with({"connect.lost", "the stub has gone", ""});
  const auto result = walk_queues(target.request("list"));
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->code, "connect.lost");
}

TEST_F(WalkOnce, TheCallbacksAreWhatDllsOfTheFieldNeed) {
  auto request = target.request("conformance");
  request.world_rank_hint = 5;
  const auto result = walk_queues(request);
  EXPECT_FALSE(result.failure) << result.failure->message;
  EXPECT_EQ(result.dll_compatibility, 3);
  EXPECT_EQ(result.dll_version, "");
  EXPECT_THAT(result.dll_messages, Contains("%s%n%d"));
}

} // namespace
} // namespace mqbridge
