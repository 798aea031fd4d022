#include "host/dump/unverified.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ostream>

namespace mqbridge {
namespace {

using ::testing::HasSubstr;

const Error why{"stop.limit", "the target was to be released now", ""};

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

TEST_P(Unverified, OnlyWhatIsCertainStays) {
  Platform platform;
  platform.byte_order = GetParam().order;
  std::vector<Communicator> all{with_receives({GetParam().operation})};
  leave_out_unverified(all, platform, why);
  const Queue& queue = all[0].queue(OpClass::receive);
  EXPECT_EQ(queue.operations.size(), GetParam().stays ? 1U : 0U);
  EXPECT_EQ(queue.state, GetParam().stays ? QueueState::available : QueueState::error);
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

TEST(LeaveOutUnverified, SaysHowManyAndWhy) {
  std::vector<Communicator> all{
      with_receives({operation(OpStatus::complete), operation(OpStatus::pending),
                     operation(OpStatus::complete)})};
  leave_out_unverified(all, Platform{}, why);
  const Queue& queue = all[0].queue(OpClass::receive);
  ASSERT_TRUE(queue.error);
  EXPECT_THAT(*queue.error, HasSubstr("left out: 2 "));
  EXPECT_THAT(*queue.error, HasSubstr("stop.limit"));
  EXPECT_EQ(queue.operations.size(), 1U);
}

TEST(LeaveOutUnverified, KeepsWhyAQueueWasCutOff) {
  auto communicator = with_receives({operation(OpStatus::complete)});
  Queue& queue = communicator.queue(OpClass::receive);
  queue.state = QueueState::error;
  queue.error = "interrupted";
  queue.total.reset();
  queue.truncated_by = TruncatedBy::max_stop;
  std::vector<Communicator> all{std::move(communicator)};
  leave_out_unverified(all, Platform{}, why);
  EXPECT_THAT(*all[0].queue(OpClass::receive).error, HasSubstr("interrupted; left out: 1 "));
  EXPECT_EQ(all[0].queue(OpClass::receive).truncated_by, TruncatedBy::max_stop);
  EXPECT_EQ(all[0].queue(OpClass::send).state, QueueState::not_requested);
}

} // namespace
} // namespace mqbridge
