#include "host/dump/rank/doubts.h"

#include <gtest/gtest.h>

namespace mqbridge {
namespace {

TEST(DoubtfulQueues, KeepsWhatWasFoundAndBelievesNoEnd) {
  Communicator communicator;
  Queue& receives = communicator.queue(OpClass::receive);
  receives.state = QueueState::available;
  receives.reason = QueueReason::none;
  receives.total = 1;
  receives.operations.push_back(Operation{});
  Queue& unexpected = communicator.queue(OpClass::unexpected);
  unexpected.state = QueueState::unavailable;
  unexpected.reason = QueueReason::not_provided;
  std::vector<Communicator> all{communicator};
  mark_doubtful(all, QueueReason::target_died, "it ended");
  const Queue& after = all[0].queue(OpClass::receive);
  EXPECT_EQ(after.state, QueueState::error);
  EXPECT_EQ(after.reason, QueueReason::target_died);
  EXPECT_EQ(after.error, "it ended");
  EXPECT_EQ(after.total, std::nullopt);
  EXPECT_EQ(after.operations.size(), 1U);
  EXPECT_EQ(all[0].queue(OpClass::unexpected).reason, QueueReason::not_provided);
  EXPECT_EQ(all[0].queue(OpClass::send).state, QueueState::not_requested);
}

} // namespace
} // namespace mqbridge
