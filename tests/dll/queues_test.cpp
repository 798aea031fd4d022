// mqbridge's own debug DLL over layouts that a test wrote: right, damaged, and seen as another
// platform's.

#include "dll/recorder/layout.h"
#include "tests/dll/layout_image.h"
#include "tests/dll/walks.h"
#include "tests/mqs/test_target.h"

#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <random>

namespace mqbridge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint64_t over_4_gib = (std::uint64_t{5} << 32) + 7;

LaidCommunicator world() {
  LaidCommunicator made;
  made.id = 0x10000000001;
  made.name = "MPI_COMM_WORLD";
  made.local_rank = 1;
  made.group = {0, 1, 2};
  LaidOperation send{.queue = 0, .peer = 2, .peer_world = 2, .tag = -17};
  send.actual_peer = send.actual_peer_world = 2;
  send.actual_tag = -17;
  send.length = send.actual_length = over_4_gib;
  send.buffer = 0xf1234567;
  send.count = 12;
  send.call = "MPI_Isend";
  send.datatype = "MPI_DOUBLE";
  LaidOperation wild{.flags = MQR_ANY_TAG, .peer = -1, .peer_world = -1};
  LaidOperation matched{.status = MQR_MATCHED, .peer = -1, .peer_world = -1, .tag = 5};
  matched.actual_peer = matched.actual_peer_world = 2;
  matched.actual_tag = 5;
  matched.length = 100;
  matched.actual_length = 99;
  LaidOperation third{.peer = 0, .tag = 7};
  LaidOperation arrived{.queue = 2, .flags = MQR_SYSTEM_BUFFER, .peer = 0, .tag = 9};
  arrived.length = 1;
  made.operations = {send, wild, matched, third, arrived};
  return made;
}

LaidCommunicator reversed() {
  LaidCommunicator made;
  made.id = 2;
  made.name = "reversed";
  made.group = {2, 1, 0};
  return made;
}

std::vector<LaidCommunicator> both() {
  return {world(), reversed()};
}

class Queues : public testing::TestWithParam<Platform> {};

INSTANTIATE_TEST_SUITE_P(, Queues, testing::ValuesIn(test_platforms()),
                         [](const auto& of) { return platform_name(of.param); });

TEST_P(Queues, AreReadAsTheyAre) {
  const auto result = LayoutImage(GetParam(), both()).walk();
  ASSERT_FALSE(result.failure) << result.failure->message;
  EXPECT_THAT(result.dll_messages, IsEmpty());
  EXPECT_EQ(result.dll_version, "mqbridge-queues, recorder layout 1.3");
  ASSERT_THAT(result.communicators, SizeIs(2));
  const auto& first = result.communicators[0];
  EXPECT_EQ(first.id, TargetAddress{0x10000000001});
  EXPECT_EQ(first.name, "MPI_COMM_WORLD");
  EXPECT_EQ(first.local_rank, 1);
  EXPECT_THAT(*first.group, ElementsAre(0, 1, 2));
  EXPECT_THAT(*result.communicators[1].group, ElementsAre(2, 1, 0));

  const auto& sends = first.queue(OpClass::send).operations;
  ASSERT_THAT(sends, SizeIs(1));
  EXPECT_EQ(sends[0].peer.local_rank, 2);
  EXPECT_EQ(sends[0].tag.value, -17);
  EXPECT_EQ(sends[0].length.value, static_cast<std::int64_t>(over_4_gib));
  EXPECT_EQ(sends[0].buffer, TargetAddress{0xf1234567});
  EXPECT_EQ(sends[0].actual->length, static_cast<std::int64_t>(over_4_gib));
  EXPECT_THAT(sends[0].text, ElementsAre("MPI_Isend", "12 x MPI_DOUBLE", HasSubstr("node 0x")));
  EXPECT_TRUE(sends[0].repairs.empty());

  const auto& receives = first.queue(OpClass::receive).operations;
  ASSERT_THAT(receives, SizeIs(3));
  EXPECT_TRUE(receives[0].peer.any);
  EXPECT_TRUE(receives[0].tag.any);
  EXPECT_FALSE(receives[0].actual);
  EXPECT_EQ(receives[1].status, OpStatus::matched);
  EXPECT_EQ(receives[1].actual->local_rank, 2);
  EXPECT_EQ(receives[1].actual->length, 99);
  EXPECT_EQ(receives[2].tag.value, 7);

  const auto& unexpected = first.queue(OpClass::unexpected);
  EXPECT_EQ(unexpected.state, QueueState::available);
  ASSERT_THAT(unexpected.operations, SizeIs(1));
  EXPECT_TRUE(unexpected.operations[0].system_buffer);
  EXPECT_FALSE(unexpected.operations[0].actual);
}

TEST_P(Queues, OneFetchForEachOperation) {
  auto few = both();
  auto many = both();
  LaidOperation one{.peer = 2, .tag = 1};
  many[0].operations.insert(many[0].operations.end(), 1000, one);
  const auto before = LayoutImage(GetParam(), few).walk();
  const auto after = LayoutImage(GetParam(), many).walk();
  EXPECT_EQ(after.communicators[0].queue(OpClass::receive).total, 1003U);
  EXPECT_EQ(after.fetches - before.fetches, 1000U);
}

TEST_P(Queues, NoCommunicatorsIsNoFault) {
  const auto result = LayoutImage(GetParam(), {}).walk();
  EXPECT_FALSE(result.failure);
  EXPECT_THAT(result.communicators, IsEmpty());
}

/// An intercommunicator's peers are of the other group, which the interface has no place for.
TEST_P(Queues, AnIntercommunicatorTellsNoGroupButItsPeersWorldRanks) {
  auto inter = world();
  inter.kind = MQR_INTER;
  inter.operations = {{.queue = 0, .peer = 1, .peer_world = 77}};
  const auto result = LayoutImage(GetParam(), {inter}).walk();
  ASSERT_FALSE(result.failure);
  EXPECT_FALSE(result.communicators[0].group);
  EXPECT_EQ(result.communicators[0].queue(OpClass::send).operations[0].peer.global_rank, 77);
}

TEST_P(Queues, NamesAreCutBetweenCharacters) {
  auto named = reversed();
  named.name = std::string(62, 'n') + "\xc3\xb6";
  EXPECT_EQ(LayoutImage(GetParam(), {named}).walk().communicators[0].name, std::string(62, 'n'));
  named.name = std::string(100, 'n');
  EXPECT_EQ(LayoutImage(GetParam(), {named}).walk().communicators[0].name, std::string(63, 'n'));
}

/// A newer minor version has appended fields, and says so by larger sizes; it has given a meaning
/// to what was reserved.
TEST_P(Queues, ANewerMinorVersionIsRead) {
  LayoutImage image(GetParam(), both());
  const std::string before = told(image.walk());
  image.set(image.root + offsetof(mqr_root, version_minor), 9, 2);
  image.set(image.root + offsetof(mqr_root, root_size), sizeof(mqr_root) + 16, 2);
  image.set(image.root + offsetof(mqr_root, communicator_size), sizeof(mqr_communicator) + 8, 2);
  image.set(image.root + offsetof(mqr_root, operation_size), sizeof(mqr_operation) + 64, 2);
  image.set(image.communicators[0] + offsetof(mqr_communicator, flags), 0x80000000, 4);
  const auto list = offsetof(mqr_communicator, queues) + offsetof(mqr_list, reserved);
  image.set(image.communicators[0] + list, 0xffffffff, 4);
  const auto& wild = image.operations[0][1];
  image.set(wild + offsetof(mqr_operation, flags), 0x80000000 | MQR_ANY_TAG, 4);
  const auto result = image.walk();
  EXPECT_FALSE(result.failure);
  EXPECT_EQ(told(result), before);
}

struct Damage {
  const char* name;
  void (*apply)(LayoutImage& image);
  const char* says;
};

void root_field(LayoutImage& image, std::size_t offset, std::size_t size, std::uint64_t value) {
  image.set(image.root + offset, value, size);
}
void world_field(LayoutImage& image, std::size_t offset, std::size_t size, std::uint64_t value) {
  image.set(image.communicators[0] + offset, value, size);
}
/// The matched receive of world().
void receive_field(LayoutImage& image, std::size_t offset, std::size_t size, std::uint64_t value) {
  image.set(image.operations[0][2] + offset, value, size);
}

#define ROOT(member) offsetof(mqr_root, member), sizeof(mqr_root::member)
#define COMMUNICATOR(member) offsetof(mqr_communicator, member), sizeof(mqr_communicator::member)
#define OPERATION(member) offsetof(mqr_operation, member), sizeof(mqr_operation::member)

/// The walk ends, and says why.
const Damage fatal[] = {
    {"magic", [](auto& i) { root_field(i, ROOT(magic), 0); }, "wrong magic"},
    {"swapped_magic", [](auto& i) { root_field(i, ROOT(magic), 0x5252514d); }, "byte order"},
    {"newer_major", [](auto& i) { root_field(i, ROOT(version_major), 2); }, "major version"},
    {"small_root", [](auto& i) { root_field(i, ROOT(root_size), 32); }, "smaller than"},
    {"small_operation", [](auto& i) { root_field(i, ROOT(operation_size), 0); }, "smaller than"},
    {"no_address_size", [](auto& i) { root_field(i, ROOT(address_size), 0); }, "address size"},
    {"not_initialized", [](auto& i) { root_field(i, ROOT(state), 0); }, "not initialized"},
    {"finalized", [](auto& i) { root_field(i, ROOT(state), 2); }, "finalized"},
    {"unknown_state", [](auto& i) { root_field(i, ROOT(state), 3); }, "does not allow"},
    {"unmapped_communicator",
     [](auto& i) { root_field(i, ROOT(communicators.first), LayoutImage::unmapped); },
     "cannot be read"},
    {"communicators_count_absurd",
     [](auto& i) { root_field(i, ROOT(communicators.count), 0xffffffff); }, "fewer nodes"},
    {"communicators_count_low", [](auto& i) { root_field(i, ROOT(communicators.count), 1); },
     "more nodes"},
    {"communicators_cycle",
     [](auto& i) {
       root_field(i, ROOT(communicators.count), 0xffffffff);
       i.set(i.communicators[1] + offsetof(mqr_node, next), i.communicators[0], 8);
     },
     "seen before"},
    {"communicator_magic", [](auto& i) { world_field(i, COMMUNICATOR(node.magic), 1); },
     "wrong magic"},
    {"communicator_kind", [](auto& i) { world_field(i, COMMUNICATOR(node.kind), 2); },
     "does not allow"},
    {"size_0", [](auto& i) { world_field(i, COMMUNICATOR(size), 0); }, "does not allow"},
    {"size_negative", [](auto& i) { world_field(i, COMMUNICATOR(size), 0xfffffff0); },
     "does not allow"},
    {"size_absurd", [](auto& i) { world_field(i, COMMUNICATOR(size), 0x7fffffff); },
     "does not allow"},
    {"rank_outside", [](auto& i) { world_field(i, COMMUNICATOR(local_rank), 3); },
     "does not allow"},
    {"rank_negative", [](auto& i) { world_field(i, COMMUNICATOR(local_rank), 0xffffffff); },
     "does not allow"},
};

TEST_P(Queues, DamageToWhatEverythingHangsOnEndsTheWalk) {
  for (const auto& damage : fatal) {
    LayoutImage image(GetParam(), both());
    damage.apply(image);
    const auto result = image.walk();
    ASSERT_TRUE(result.failure) << damage.name;
    EXPECT_THAT(result.failure->message, HasSubstr(damage.says)) << damage.name;
    EXPECT_THAT(result.dll_messages, testing::Contains(HasSubstr(damage.says))) << damage.name;
  }
}

/// One queue has an error, and the rest is there.
const Damage local[] = {
    {"unmapped_first",
     [](auto& i) { world_field(i, COMMUNICATOR(queues[1].first), LayoutImage::unmapped); },
     "cannot be read"},
    {"unmapped_next",
     [](auto& i) { receive_field(i, OPERATION(node.next), LayoutImage::unmapped); },
     "cannot be read"},
    {"next_beyond_32_bits",
     [](auto& i) { receive_field(i, OPERATION(node.next), 0xfedcba9800000000); }, "cannot be read"},
    {"magic", [](auto& i) { receive_field(i, OPERATION(node.magic), 0); }, "wrong magic"},
    {"other_queue", [](auto& i) { receive_field(i, OPERATION(node.kind), 0); }, "does not allow"},
    {"status", [](auto& i) { receive_field(i, OPERATION(status), 3); }, "does not allow"},
    {"length", [](auto& i) { receive_field(i, OPERATION(length), std::uint64_t{1} << 63); },
     "does not allow"},
    {"actual_length",
     [](auto& i) { receive_field(i, OPERATION(actual_length), std::uint64_t{1} << 63); },
     "does not allow"},
    {"count_high", [](auto& i) { world_field(i, COMMUNICATOR(queues[1].count), 4); },
     "fewer nodes"},
    {"count_low", [](auto& i) { world_field(i, COMMUNICATOR(queues[1].count), 2); }, "more nodes"},
    {"own_next", [](auto& i) { receive_field(i, OPERATION(node.next), i.operations[0][2]); },
     "seen before"},
    {"cycle",
     [](auto& i) {
       world_field(i, COMMUNICATOR(queues[1].count), 0xffffffff);
       receive_field(i, OPERATION(node.next), i.operations[0][1]);
     },
     "seen before"},
    {"cycle_during_an_update",
     [](auto& i) {
       root_field(i, ROOT(generation), 7);
       world_field(i, COMMUNICATOR(queues[1].count), 0xffffffff);
       receive_field(i, OPERATION(node.next), i.operations[0][2]);
     },
     "seen before"},
};

TEST_P(Queues, DamageToAQueueCostsThatQueue) {
  for (const auto& damage : local) {
    LayoutImage image(GetParam(), both());
    damage.apply(image);
    const auto result = image.walk();
    ASSERT_FALSE(result.failure) << damage.name << result.failure->message;
    ASSERT_THAT(result.communicators, SizeIs(2)) << damage.name;
    const auto& queue = result.communicators[0].queue(OpClass::receive);
    EXPECT_EQ(queue.state, QueueState::error) << damage.name;
    EXPECT_THAT(queue.error.value_or(""), HasSubstr(damage.says)) << damage.name;
    EXPECT_EQ(result.communicators[0].queue(OpClass::send).total, 1U) << damage.name;
    EXPECT_EQ(result.communicators[0].queue(OpClass::unexpected).total, 1U) << damage.name;
  }
}

/// No sooner than at its second lap is a cycle known as one.
TEST_P(Queues, ACycleIsLeftSoon) {
  LayoutImage image(GetParam(), both());
  world_field(image, COMMUNICATOR(queues[1].count), 0xffffffff);
  receive_field(image, OPERATION(node.next), image.operations[0][1]);
  EXPECT_LE(image.walk().communicators[0].queue(OpClass::receive).operations.size(), 9U);
}

TEST_P(Queues, WhatBelongsToACommunicatorAloneCostsNoQueue) {
  for (const std::size_t member :
       {offsetof(mqr_communicator, name), offsetof(mqr_communicator, group)}) {
    LayoutImage image(GetParam(), both());
    world_field(image, member, 8, LayoutImage::unmapped);
    const auto result = image.walk();
    ASSERT_FALSE(result.failure);
    EXPECT_EQ(result.communicators[0].queue(OpClass::receive).total, 3U);
    EXPECT_THAT(result.dll_messages, testing::Contains(HasSubstr("cannot be read")));
  }
}

TEST_P(Queues, BetweenTheTwoStoresOfAnUpdateACountMayBeOneOff) {
  for (const std::uint64_t count : {2, 3, 4}) {
    LayoutImage image(GetParam(), both());
    root_field(image, ROOT(generation), 7);
    world_field(image, COMMUNICATOR(queues[1].count), count);
    EXPECT_EQ(image.walk().communicators[0].queue(OpClass::receive).total, 3U) << count;
  }
  for (const std::uint64_t count : {1, 5}) {
    LayoutImage image(GetParam(), both());
    root_field(image, ROOT(generation), 7);
    world_field(image, COMMUNICATOR(queues[1].count), count);
    EXPECT_EQ(image.walk().communicators[0].queue(OpClass::receive).state, QueueState::error)
        << count;
  }
}

/// Bytes of anything that was laid are changed at random, one to four at a time: whatever that
/// does, the DLL comes to an end of its own, and soon.
TEST_P(Queues, RandomDamageNeitherCrashesNorHoldsTheWalk) {
  constexpr int rounds = 100;
  std::mt19937 random(20); // the same damage every time
  for (int round = 0; round < rounds; ++round) {
    auto laid = both();
    laid[0].returned = {{.peer = 2, .tag = 1, .length = 8}, {.peer = 1, .tag = 2, .length = 8}};
    LayoutImage image(GetParam(), laid);
    std::string where;
    for (auto changes = random() % 4 + 1; changes > 0; --changes) {
      const auto address = image.root + random() % (image.end() - image.root);
      image.set(address, random(), 1);
      where += fmt::format(" {:#x}", address);
    }
    const auto result = image.walk();
    if (result.failure) {
      EXPECT_THAT(result.failure->code, testing::AnyOf("dll.no_queues", "dll.failed")) << where;
    }
    for (const auto& communicator : result.communicators)
      for (const auto& queue : communicator.queues)
        EXPECT_LE(queue.operations.size(), 16U + MQR_RETURNED) << where;
  }
}

/// A target taken for what it is not must never come out as queues.
TEST_P(Queues, AnotherPlatformIsRefused) {
  for (const auto& other : test_platforms()) {
    if (other == GetParam())
      continue;
    const auto result = LayoutImage(GetParam(), both()).walk(other);
    ASSERT_TRUE(result.failure) << platform_name(other);
    EXPECT_EQ(result.failure->code, "dll.no_queues");
    EXPECT_THAT(
        result.failure->message,
        HasSubstr(other.byte_order != GetParam().byte_order ? "byte order" : "address size"));
    EXPECT_THAT(result.communicators, IsEmpty());
  }
}

TEST_P(Queues, StateIsReadInTheTargetsByteOrder) {
  const std::pair<std::uint64_t, MpiState> cases[] = {{0, MpiState::not_initialized},
                                                      {1, MpiState::initialized},
                                                      {2, MpiState::finalized},
                                                      {3, MpiState::unknown}};
  for (const auto& [value, state] : cases) {
    LayoutImage image(GetParam(), {});
    root_field(image, ROOT(state), value);
    EXPECT_EQ(image.read_state(), state) << value;
  }
  LayoutImage image(GetParam(), {});
  root_field(image, ROOT(magic), 0);
  EXPECT_EQ(image.read_state(), MpiState::unknown);
  image.forget_memory();
  EXPECT_EQ(image.read_state(), MpiState::unknown);
}

TEST(QueuesWithoutRecorder, TheSymbolIsNamed) {
  TestTarget target(test_platforms().front());
  const auto result = walk_recorder({target.images, target.memory, target.platform});
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->code, "dll.no_queues");
  EXPECT_THAT(result.failure->message, HasSubstr("solver has no symbol mqbridge_recorder"));
}

TEST(QueuesWithoutMemory, NothingIsReadIntoQueues) {
  LayoutImage image(test_platforms().front(), both());
  image.forget_memory();
  const auto result = image.walk();
  ASSERT_TRUE(result.failure);
  EXPECT_THAT(result.failure->message, HasSubstr("cannot be read"));
}

} // namespace
} // namespace mqbridge
