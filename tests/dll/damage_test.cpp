// mqbridge's own debug DLL on memory that any kind of damage may have been done to: every word of
// every structure, and communicators that were freed while the list still leads to them.

#include "dll/recorder/layout.h"
#include "tests/dll/layout_image.h"
#include "tests/mqs/test_target.h"
#include "tests/support/faults_tried.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr std::size_t word = 8;
/// Nodes of a cycle are seen twice at the most, and each costs one fetch.
constexpr std::uint64_t most_fetches = 100;

LaidCommunicator laid(std::uint64_t id, const char* name, std::vector<std::int32_t> group) {
  LaidCommunicator made;
  made.id = id;
  made.name = name;
  made.group = std::move(group);
  return made;
}

std::vector<LaidCommunicator> scene() {
  auto first = laid(1, "first", {0, 1});
  first.operations = {{.queue = 0, .peer = 1, .tag = 1}, {.tag = 2}, {.tag = 3}, {.queue = 2}};
  first.returned = {{.peer = 0, .tag = 8, .length = 1, .number = 0, .function = 5}};
  auto second = laid(2, "second", {1, 0});
  second.operations = {{.tag = 4}};
  return {first, second};
}

/// A structure of the scene, and what is whole whatever becomes of it.
struct Structure {
  std::string name;
  std::uint64_t address;
  std::size_t size;
  bool first_is_whole;         ///< the first communicator with all its queues
  bool other_queues_are_whole; ///< its sends and unexpected messages
};

std::vector<Structure> structures_of(const LayoutImage& image) {
  const auto& operations = image.operations;
  return {{"root", image.root, sizeof(mqr_root), false, false},
          {"first communicator", image.communicators[0], sizeof(mqr_communicator), false, false},
          {"second communicator", image.communicators[1], sizeof(mqr_communicator), true, true},
          {"a receive", operations[0][1], sizeof(mqr_operation), false, true},
          {"the last receive", operations[0][2], sizeof(mqr_operation), false, true},
          {"a returned send", image.rings[0], sizeof(mqr_returned), false, false},
          {"second communicator's", operations[1][0], sizeof(mqr_operation), true, true}};
}

void expect_harmless(const WalkResult& result, const std::string& damage) {
  EXPECT_LE(result.fetches, most_fetches) << damage;
  for (const auto& communicator : result.communicators)
    for (const auto& queue : communicator.queues) {
      EXPECT_LE(queue.operations.size(), 32U) << damage; // garbage in a ring may look like sends
      if (queue.state == QueueState::error) {
        EXPECT_THAT(queue.error.value_or(""), Not(IsEmpty())) << damage;
      }
    }
  if (!result.failure)
    return;
  EXPECT_THAT(result.failure->code, AnyOf("dll.no_queues", "dll.failed")) << damage;
  EXPECT_THAT(result.failure->message, HasSubstr("libmqbridge-queues")) << damage;
  EXPECT_THAT(result.dll_messages, Not(IsEmpty())) << damage << ": where the damage is";
}

void expect_whole(const WalkResult& result, const Structure& damaged, const std::string& damage) {
  if (!damaged.other_queues_are_whole)
    return;
  ASSERT_THAT(result.communicators, Not(IsEmpty())) << damage;
  const auto& first = result.communicators[0];
  EXPECT_EQ(first.name, "first") << damage;
  EXPECT_EQ(first.queue(OpClass::send).total, 2U) << damage;
  EXPECT_EQ(first.queue(OpClass::unexpected).total, 1U) << damage;
  if (damaged.first_is_whole) {
    EXPECT_EQ(first.queue(OpClass::receive).total, 2U) << damage;
  }
}

class DamagedQueues : public testing::TestWithParam<Platform> {};

INSTANTIATE_TEST_SUITE_P(, DamagedQueues, testing::ValuesIn(test_platforms()),
                         [](const auto& of) { return platform_name(of.param); });

// Each word on two of the four platforms: of each order one, and of each size.
TEST_P(DamagedQueues, AnyWordOfAnyStructureMayBeGarbage) {
  const bool odd = (GetParam().byte_order == ByteOrder::big) != (GetParam().pointer_size == 8);
  const LayoutImage whole(GetParam(), scene());
  const std::uint64_t values[] = {0,          ~std::uint64_t{0},      std::uint64_t{1} << 63,
                                  whole.root, whole.communicators[0], whole.operations[0][1]};
  std::size_t tried = 0;
  for (const auto& structure : structures_of(whole))
    for (std::size_t offset = odd ? word : 0; offset < structure.size; offset += 2 * word)
      for (const std::uint64_t value : values) {
        const auto damage = fmt::format("{} + {}: {:#x}", structure.name, offset, value);
        LayoutImage image(GetParam(), scene());
        image.set(structure.address + offset, value, word);
        const auto result = image.walk();
        expect_harmless(result, damage);
        expect_whole(result, structure, damage);
        ++tried;
      }
  test::faults_tried(tried);
}

/// The list still leads to it: the memory was given back, used for something else, or cleared.
TEST_P(DamagedQueues, AFreedCommunicatorCostsWhatComesAfterIt) {
  for (const std::uint64_t filling :
       {std::uint64_t{0}, std::uint64_t{0xdddddddddddddddd}, ~std::uint64_t{0}}) {
    LayoutImage image(GetParam(), scene());
    for (std::size_t offset = 0; offset < sizeof(mqr_communicator); offset += word)
      image.set(image.communicators[1] + offset, filling, word);
    const auto damage = fmt::format("filled with {:#x}", filling);
    const auto result = image.walk();
    ASSERT_TRUE(result.failure) << damage;
    EXPECT_EQ(result.failure->code, "dll.failed") << damage;
    EXPECT_THAT(result.failure->message, HasSubstr("wrong magic")) << damage;
    EXPECT_THAT(result.communicators, SizeIs(1)) << damage;
    expect_harmless(result, damage);
    expect_whole(result, structures_of(image)[2], damage);
  }
  test::faults_tried(3);
}

TEST_P(DamagedQueues, AFreedCommunicatorThatBecameAnOperationIsNone) {
  LayoutImage image(GetParam(), scene());
  image.set(image.communicators[0] + offsetof(mqr_node, next), image.operations[0][1], word);
  const auto result = image.walk();
  ASSERT_TRUE(result.failure);
  EXPECT_THAT(result.failure->message, HasSubstr("wrong magic"));
  EXPECT_THAT(result.communicators, SizeIs(1));
  test::faults_tried(1);
}

} // namespace
} // namespace mqbridge
