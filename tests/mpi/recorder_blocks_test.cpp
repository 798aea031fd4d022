// Damaged and hostile blocks of dll/recorder/variables_layout.h: nothing is read beyond them, and
// no more is made of them than they have.

#include "dll/recorder/variables.h"
#include "host/mpi/mpi_support.h"
#include "host/mpi/recorder/recorded_samples.h"
#include "tests/mqs/process_memory.h"
#include "tests/support/fake_memory.h"

#include <bit>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <memory>
#include <unistd.h>

namespace mqbridge {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr std::uint64_t address = 0x10000;

std::vector<std::uint8_t> bytes_of(const void* structure, std::size_t size) {
  std::vector<std::uint8_t> bytes(size);
  std::memcpy(bytes.data(), structure, size);
  return bytes;
}

struct Free {
  void operator()(mqr_variables* block) const { std::free(block); }
};

/// A variable with an enumeration, a category and a value, as the recorder lays them out.
std::vector<std::uint8_t> list_block() {
  mqr_listing listing;
  mqr_listing_open(&listing);
  const std::int32_t value = 7;
  const mqr_enumeration_item item = {1, mqr_listing_add_text(&listing, "one")};
  mqr_enumeration enumeration = {mqr_listing_add_text(&listing, "numbers"), 0, 1, 0};
  mqr_variable variable = {};
  variable.name = mqr_listing_add_text(&listing, "a_variable");
  std::memcpy(variable.datatype, "MPI_INT", 7);
  variable.form = MQR_FORM_SIGNED;
  variable.element = 4;
  variable.count = 1;
  mqr_category category = {};
  category.controls = 1;
  const std::uint32_t member = 0;
  enumeration.first = mqr_listing_add(&listing, MQR_PART_ITEMS, &item, 1);
  mqr_listing_add(&listing, MQR_PART_ENUMERATIONS, &enumeration, 1);
  variable.value = mqr_listing_add(&listing, MQR_PART_VALUES, &value, sizeof value);
  mqr_listing_add(&listing, MQR_PART_VARIABLES, &variable, 1);
  mqr_listing_add(&listing, MQR_PART_CATEGORIES, &category, 1);
  mqr_listing_add(&listing, MQR_PART_MEMBERS, &member, 1);
  const std::unique_ptr<mqr_variables, Free> block(mqr_listing_finish(&listing, 1));
  return bytes_of(block.get(), block->size);
}

/// This process with another root of the recorder, and the block that it leads to.
class Target {
public:
  explicit Target(std::vector<std::uint8_t> block)
      : images_(images_of_process(::getpid()).value()) {
    mqr_root root = {};
    root.magic = MQR_MAGIC_ROOT;
    root.version_major = MQR_VERSION_MAJOR;
    root.root_size = sizeof(mqr_root);
    root.communicator_size = sizeof(mqr_communicator);
    root.operation_size = sizeof(mqr_operation);
    root.address_size = sizeof(void*);
    root.state = MQR_INITIALIZED;
    root.variables.word = address;
    memory_.put(images_.find_symbol(MQR_ROOT_SYMBOL).value().address, bytes_of(&root, sizeof root));
    memory_.put({address}, std::move(block));
  }
  Result<std::optional<ProcessVariables>> read() {
    return support_of("recorder").read_variables({images_, memory_, platform_}, warnings);
  }
  AddressSpace space() { return {images_, memory_, platform_}; }

  Warnings warnings;

private:
  ImageSet images_;
  FakeMemory memory_;
  Platform platform_;
};

TEST(RecorderBlocks, WhatTheRecorderLaysOutIsRead) {
  Target target(list_block());
  const auto all = target.read();
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_THAT((*all)->variables, SizeIs(1));
  const auto& variable = (*all)->variables[0];
  EXPECT_EQ(variable.name, "a_variable");
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(*variable.readings.at(0).value),
            std::vector<std::int64_t>{7});
  EXPECT_EQ((*all)->enumerations.at(variable.enumeration.value()).items.at(0).name, "one");
  EXPECT_EQ(variable.categories, std::vector<std::size_t>{0});
}

// Every word of it in turn is damaged: an error, or a list that is no larger than the block.
TEST(RecorderBlocks, AnyWordMayBeDamaged) {
  const auto whole = list_block();
  std::size_t refused = 0;
  for (std::size_t at = 0; at < whole.size(); at += 4)
    for (const std::uint32_t value : {0U, 0x7fffffffU, 0xffffffffU, 0x10000U}) {
      auto block = whole;
      std::memcpy(&block[at], &value, sizeof value);
      Target target(block);
      const auto all = target.read();
      refused += !all;
      if (!all)
        EXPECT_THAT(std::string(all.error().code),
                    testing::AnyOf("variables.corrupt", "memory.unreadable"))
            << at;
      else
        EXPECT_LE((*all)->variables.size(), 1U) << at;
    }
  EXPECT_GT(refused, 20U);
}

TEST(RecorderBlocks, OneThatEndsInUnmappedMemoryIsUnreadable) {
  auto block = list_block();
  block.resize(block.size() / 2);
  Target target(block);
  const auto all = target.read();
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().code, "memory.unreadable");
}

// 16,384 readings, each of which names the whole block, would have 16 GiB.
TEST(RecorderBlocks, ReadingsDoNotShareTheirBytes) {
  constexpr std::uint32_t size = MQR_MAX_SAMPLES_SIZE;
  constexpr std::uint32_t count = 16'384;
  std::vector<std::uint8_t> block(size);
  mqr_samples samples = {};
  samples.magic = MQR_MAGIC_SAMPLES;
  samples.size = size;
  samples.readings = {sizeof samples, count, sizeof(mqr_reading), 0};
  std::memcpy(block.data(), &samples, sizeof samples);
  mqr_reading reading = {};
  reading.count = size;
  for (std::uint32_t i = 0; i < count; ++i)
    std::memcpy(&block[sizeof samples + i * sizeof reading], &reading, sizeof reading);
  Target target(block);
  const std::vector<recorder::ValueForm> forms = {{MQR_FORM_UNSIGNED, 1}};
  Warnings warnings;
  const auto read = recorder::read_samples(target.space(), {}, address, forms, warnings);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, "variables.corrupt");
}

TEST(RecorderBlocks, ATargetsClockThatIsAheadMakesTheAgeUnknown) {
  auto block = list_block();
  const std::uint64_t later = UINT64_C(4'000'000'000) * 1'000'000'000;
  std::memcpy(&block[offsetof(mqr_variables, listed)], &later, sizeof later);
  Target target(block);
  const auto all = target.read();
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ((*all)->listed_s, std::nullopt);
  EXPECT_TRUE((*all)->variables.at(0).readings.at(0).earlier);
  EXPECT_EQ((*all)->variables.at(0).readings.at(0).age_s, std::nullopt);
  ASSERT_THAT(target.warnings, SizeIs(1));
  EXPECT_EQ(target.warnings[0].code, "variables.clock");
}

} // namespace
} // namespace mqbridge
