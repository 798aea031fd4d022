// The limits that nobody asked for: no honest dump meets them, and what lists without end does.

#include "tests/dump/real/rank_under_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

namespace mqbridge::test {
namespace {

RankDump dump_with(DumpTools& tools, const RankUnderTest& rank) {
  RunBudget budget(memory_left() / 2, 1);
  auto shared = tools.tools();
  shared.budget = &budget;
  std::shared_ptr<rsp::SharedStub> stub;
  return dump_rank(rank.target(), shared, stub, {}, {}).dump;
}

TEST(DefaultLimits, AMillionOperationsMeetNone) {
  constexpr std::size_t operations = 1'000'000;
  RankUnderTest rank("many_receives", {std::to_string(operations)}, ServerMode::attach_once);
  DumpTools tools;
  const auto dump = dump_with(tools, rank);
  EXPECT_EQ(dump.status, RankStatus::ok) << errors_of(dump);
  EXPECT_EQ(receives_of(dump), operations);
  for (const auto& communicator : dump.communicators)
    for (const Queue& queue : communicator.queues)
      EXPECT_EQ(queue.truncated_by, TruncatedBy::nothing);
}

TEST(DefaultLimits, EndlessCommunicatorsOfEndlessQueuesMeetThem) {
  RankUnderTest rank("many_receives", {"10"}, ServerMode::attach_once);
  DumpTools tools;
  tools.options.dll.given = MQBRIDGE_TEST_DLLS "/LIES_FAST.so";
  const auto dump = dump_with(tools, rank);
  EXPECT_EQ(dump.status, RankStatus::partial);
  EXPECT_THAT(errors_of(dump), testing::HasSubstr("walk.max_bytes"));
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  EXPECT_LT(used.ru_maxrss, 3L << 20) << "KiB";
  EXPECT_TRUE(rank.finishes());
}

} // namespace
} // namespace mqbridge::test
