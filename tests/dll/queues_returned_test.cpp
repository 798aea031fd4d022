// mqbridge's own debug DLL over what version 1.1 of the layout brought: sends that have returned,
// persistent operations, probes, recorders that were switched off, and recorders of version 1.0.

#include "dll/recorder/functions.h"
#include "dll/recorder/layout.h"
#include "tests/dll/layout_image.h"
#include "tests/dll/walks.h"
#include "tests/mqs/test_target.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr const char* returned_line = "returned: not known to have arrived";

LaidCommunicator small_world() {
  LaidCommunicator made;
  made.id = 1;
  made.name = "MPI_COMM_WORLD";
  made.group = {5, 6, 7};
  return made;
}

/// Whose tags are 0, 1, 2, ...
LaidCommunicator world_with_returned(std::int32_t count) {
  auto made = small_world();
  for (std::int32_t tag = 0; tag < count; ++tag)
    made.returned.push_back({.peer = tag % 3,
                             .tag = tag,
                             .length = 8,
                             .number = static_cast<std::uint32_t>(tag / 3),
                             .function = MQR_Send});
  return made;
}

std::vector<std::int64_t> tags_of(const Queue& queue) {
  std::vector<std::int64_t> tags;
  for (const auto& operation : queue.operations)
    tags.push_back(operation.tag.value.value_or(-1));
  return tags;
}

std::vector<std::int64_t> tags_from(std::int64_t first, std::int64_t end) {
  std::vector<std::int64_t> tags;
  for (; first < end; ++first)
    tags.push_back(first);
  return tags;
}

Queue queue_of(LayoutImage& image, OpClass op_class) {
  const auto result = image.walk();
  EXPECT_FALSE(result.failure) << result.failure->message;
  return result.communicators.at(0).queue(op_class);
}

class QueuesReturned : public testing::TestWithParam<Platform> {};

INSTANTIATE_TEST_SUITE_P(, QueuesReturned, testing::ValuesIn(test_platforms()),
                         [](const auto& of) { return platform_name(of.param); });

TEST_P(QueuesReturned, ComeBehindThePendingSends) {
  auto made = world_with_returned(2);
  made.operations = {{.queue = 0, .peer = 1, .tag = 50}};
  LayoutImage image(GetParam(), {made});
  const auto sends = queue_of(image, OpClass::send);
  ASSERT_EQ(sends.state, QueueState::available) << sends.error.value_or("");
  EXPECT_THAT(tags_of(sends), ElementsAre(50, 0, 1));
  const auto& last = sends.operations[2];
  EXPECT_EQ(last.raw.status, MQR_COMPLETE);
  EXPECT_EQ(last.peer.local_rank, 1);
  EXPECT_EQ(last.peer.global_rank, 6);
  EXPECT_EQ(last.length.value, 8);
  ASSERT_TRUE(last.actual);
  EXPECT_EQ(last.actual->local_rank, 1);
  EXPECT_EQ(last.actual->tag, 1);
  EXPECT_EQ(last.actual->length, 8);
  EXPECT_THAT(last.text,
              ElementsAre("MPI_Send", returned_line,
                          fmt::format("node {:#x}", image.rings[0] + sizeof(mqr_returned))));
  EXPECT_THAT(sends.operations[0].text,
              ElementsAre(fmt::format("node {:#x}", image.operations[0][0])));
}

TEST_P(QueuesReturned, TheLast256AreThereOldestFirst) {
  for (const std::int32_t count : {int{MQR_RETURNED}, MQR_RETURNED + 1, 700}) {
    LayoutImage image(GetParam(), {world_with_returned(count)});
    EXPECT_EQ(tags_of(queue_of(image, OpClass::send)), tags_from(count - MQR_RETURNED, count));
  }
}

/// One for the ring, and one for each peer.
TEST_P(QueuesReturned, CostFewFetches) {
  LayoutImage none(GetParam(), {small_world()});
  LayoutImage full(GetParam(), {world_with_returned(MQR_RETURNED)});
  EXPECT_EQ(full.walk().fetches - none.walk().fetches, 1U + 3U);
}

TEST_P(QueuesReturned, WhatMayBeHalfWrittenIsLeftOut) {
  LayoutImage image(GetParam(), {world_with_returned(300)});
  image.set(image.root + offsetof(mqr_root, generation), 7, 4);
  EXPECT_EQ(tags_of(queue_of(image, OpClass::send)), tags_from(300 - MQR_RETURNED + 1, 300));
  LayoutImage few(GetParam(), {world_with_returned(3)});
  few.set(few.root + offsetof(mqr_root, generation), 7, 4);
  EXPECT_EQ(tags_of(queue_of(few, OpClass::send)), tags_from(0, 3));
}

/// Between the two stores that take it from one list to the other.
TEST_P(QueuesReturned, ASendIsNotListedTwice) {
  auto made = world_with_returned(4);
  made.operations = {{.queue = 0, .peer = 0, .tag = 3}, {.queue = 0, .peer = 1, .tag = 9}};
  for (const std::uint64_t generation : {6, 7}) {
    LayoutImage image(GetParam(), {made});
    image.set(image.root + offsetof(mqr_root, generation), generation, 4);
    image.set(image.operations[0][0] + offsetof(mqr_operation, number), 1, 4);
    const auto tags = tags_of(queue_of(image, OpClass::send));
    if (generation % 2 != 0)
      EXPECT_THAT(tags, ElementsAre(3, 9, 0, 1, 2));
    else
      EXPECT_THAT(tags, ElementsAre(3, 9, 0, 1, 2, 3));
  }
}

TEST_P(QueuesReturned, OfAnIntercommunicatorHaveRanksOfTheOtherGroup) {
  auto made = small_world();
  made.kind = MQR_INTER;
  made.remote_group = {20, 21, 22, 23};
  made.returned = {{.peer = 3, .tag = 1, .function = 60'000}};
  LayoutImage image(GetParam(), {made});
  const auto sends = queue_of(image, OpClass::send);
  ASSERT_THAT(sends.operations, SizeIs(1));
  EXPECT_EQ(sends.operations[0].peer.global_rank, 23);
  EXPECT_THAT(sends.operations[0].text, ElementsAre(returned_line, HasSubstr("node 0x")))
      << "this function has no name";
}

TEST_P(QueuesReturned, DamageToThemCostsTheSends) {
  const auto entry = sizeof(mqr_returned);
  struct {
    std::size_t offset;
    std::uint64_t value;
    std::size_t size;
  } const damages[] = {{entry + offsetof(mqr_returned, peer), 3, 4},
                       {entry + offsetof(mqr_returned, peer), 0xfffffffe, 4},
                       {entry + offsetof(mqr_returned, length), std::uint64_t{1} << 63, 8}};
  auto made = world_with_returned(5);
  made.operations = {{.queue = 0, .peer = 1, .tag = 50}, {.tag = 60}};
  for (const auto& damage : damages) {
    LayoutImage image(GetParam(), {made});
    image.set(image.rings[0] + damage.offset, damage.value, damage.size);
    const auto sends = queue_of(image, OpClass::send);
    EXPECT_EQ(sends.state, QueueState::error) << damage.offset;
    EXPECT_THAT(sends.error.value_or(""), HasSubstr("does not allow"));
    EXPECT_THAT(tags_of(sends), ElementsAre(50, 0));
    EXPECT_EQ(queue_of(image, OpClass::receive).state, QueueState::available);
  }
  LayoutImage image(GetParam(), {made});
  image.set(image.communicators[0] + offsetof(mqr_communicator, returned_sends),
            LayoutImage::unmapped, 8);
  const auto sends = queue_of(image, OpClass::send);
  EXPECT_EQ(sends.state, QueueState::error);
  EXPECT_THAT(sends.error.value_or(""), HasSubstr("cannot be read"));
  EXPECT_THAT(tags_of(sends), ElementsAre(50)) << "which is pending";
}

TEST_P(QueuesReturned, WhereOperationsMayBeMissingNoListIsWhole) {
  auto made = world_with_returned(1);
  made.operations = {{.queue = 0, .peer = 1, .tag = 50}, {.tag = 60}};
  for (const std::uint64_t flags : {std::uint64_t{MQR_OFF}, std::uint64_t{MQR_GAPS}}) {
    LayoutImage image(GetParam(), {made});
    image.set(image.root + offsetof(mqr_root, flags), flags, 4);
    for (const auto op_class : op_classes) {
      const auto queue = queue_of(image, op_class);
      EXPECT_EQ(queue.state, QueueState::error);
      EXPECT_THAT(queue.error.value_or(""), HasSubstr("may be missing"));
    }
    EXPECT_THAT(tags_of(queue_of(image, OpClass::send)), ElementsAre(50, 0));
    EXPECT_THAT(tags_of(queue_of(image, OpClass::receive)), ElementsAre(60));
  }
}

TEST_P(QueuesReturned, InactiveOperationsAndProbesSaySo) {
  auto made = small_world();
  LaidOperation inactive{.queue = 1, .status = MQR_PENDING, .flags = MQR_INACTIVE, .tag = 1};
  inactive.actual_tag = 77;
  LaidOperation probe{.queue = 1, .flags = MQR_PROBE, .tag = 2};
  LaidOperation mprobe{.queue = 1, .flags = MQR_MPROBE | MQR_ANY_TAG};
  mprobe.call = "MPI_Mprobe";
  LaidOperation taken{.queue = 2, .flags = MQR_TAKEN, .peer = 2, .tag = 4};
  made.operations = {inactive, probe, mprobe, taken};
  LayoutImage image(GetParam(), {made});
  const auto receives = queue_of(image, OpClass::receive).operations;
  ASSERT_THAT(receives, SizeIs(3));
  EXPECT_EQ(receives[0].raw.status, MQR_COMPLETE);
  EXPECT_EQ(receives[0].raw.actual_tag, 0) << "it has met no message";
  EXPECT_THAT(receives[0].text, ElementsAre("inactive", HasSubstr("node 0x")));
  EXPECT_THAT(receives[1].text, ElementsAre("probe", HasSubstr("node 0x")));
  EXPECT_THAT(receives[2].text, ElementsAre("MPI_Mprobe", "probe", HasSubstr("node 0x")));
  EXPECT_THAT(tags_of(queue_of(image, OpClass::unexpected)), ElementsAre(4));
}

/// Its structures end where those of 1.0 did: what comes behind them is not theirs.
TEST_P(QueuesReturned, ARecorderOfVersion10IsRead) {
  auto made = world_with_returned(3);
  made.operations = {{.queue = 0, .peer = 1, .tag = 50}, {.tag = 60}};
  LayoutImage image(GetParam(), {made});
  image.set(image.root + offsetof(mqr_root, version_minor), 0, 2);
  image.set(image.root + offsetof(mqr_root, root_size), MQR_ROOT_SIZE_1_0, 2);
  image.set(image.root + offsetof(mqr_root, communicator_size), MQR_COMMUNICATOR_SIZE_1_0, 2);
  image.set(image.root + offsetof(mqr_root, operation_size), MQR_OPERATION_SIZE_1_0, 2);
  image.set(image.root + offsetof(mqr_root, flags), MQR_GAPS, 4);
  const auto sends = queue_of(image, OpClass::send);
  EXPECT_EQ(sends.state, QueueState::available) << sends.error.value_or("");
  EXPECT_THAT(tags_of(sends), ElementsAre(50));
  EXPECT_THAT(tags_of(queue_of(image, OpClass::receive)), ElementsAre(60));
}

} // namespace
} // namespace mqbridge
