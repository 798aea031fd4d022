#include "host/dump/rank/doubts.h"

#include <gtest/gtest.h>
#include <ostream>

namespace mqbridge {
namespace {

Communicator with_receives(const std::vector<Operation>& operations) {
  Communicator communicator;
  Queue& queue = communicator.queue(OpClass::receive);
  queue.state = QueueState::available;
  queue.reason = QueueReason::none;
  queue.total = operations.size();
  queue.operations = {operations.begin(), operations.end()};
  return communicator;
}

Operation operation(OpStatus status, RepairList repairs = {}) {
  Operation one;
  one.status = status;
  one.repairs = repairs;
  return one;
}

struct Case {
  const char* name;
  ByteOrder order;
  Operation operation;
  bool stays;
};

void PrintTo(const Case& each, std::ostream* out) {
  *out << each.name;
}

class Unverified : public ::testing::TestWithParam<Case> {};

TEST_P(Unverified, OnlyWhatIsCertainIsBelieved) {
  Platform platform;
  platform.byte_order = GetParam().order;
  std::vector<Communicator> all{with_receives({GetParam().operation})};
  doubt_unverified(all, platform);
  const Queue& queue = all[0].queue(OpClass::receive);
  ASSERT_EQ(queue.operations.size(), 1U);
  EXPECT_EQ(queue.operations[0].status,
            GetParam().stays ? GetParam().operation.status : OpStatus::unknown);
  EXPECT_EQ(queue.state, QueueState::available);
  EXPECT_EQ(queue.total, 1U);
}

INSTANTIATE_TEST_SUITE_P(
    Statuses, Unverified,
    ::testing::Values(
        Case{"LittlePending", ByteOrder::little, operation(OpStatus::pending), true},
        Case{"LittleMatched", ByteOrder::little, operation(OpStatus::matched), false},
        Case{"LittleComplete", ByteOrder::little, operation(OpStatus::complete), false},
        Case{"LittleRepaired", ByteOrder::little, operation(OpStatus::complete, {Repair::status}),
             true},
        Case{"BigPending", ByteOrder::big, operation(OpStatus::pending), false},
        Case{"BigRepaired", ByteOrder::big, operation(OpStatus::pending, {Repair::status}), true}),
    [](const auto& each) { return each.param.name; });

} // namespace
} // namespace mqbridge
