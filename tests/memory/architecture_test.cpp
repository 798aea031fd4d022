// The entries of the table of architectures, compared with themselves and with each other: what a
// new entry gets wrong easily, and what nobody notices before a process of it is looked into.

#include "host/memory/architecture.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>
#include <vector>

namespace mqbridge {
namespace {

/// All layouts of an architecture that say something.
std::vector<RegisterPlaces> layouts_of(const Architecture& one) {
  std::vector<RegisterPlaces> layouts(one.live_registers.begin(), one.live_registers.end());
  layouts.push_back(one.core_registers);
  std::erase_if(layouts, [](const RegisterPlaces& places) { return places.size == 0; });
  return layouts;
}

bool have(const RegisterPlaces& places, std::uint16_t number) {
  return std::ranges::any_of(places.runs, [number](const RegisterRun& run) {
    return number >= run.number && number < run.number + run.count;
  });
}

TEST(Architectures, AreFoundByTheirNamesAndMachines) {
  for (const auto& one : architectures()) {
    for (const auto name : {one.name, one.big_name}) {
      Platform platform;
      platform.architecture = name;
      EXPECT_TRUE(name.empty() || &architecture_of(platform) == &one) << name;
    }
    for (const auto machine : {one.machine, one.other_machine})
      EXPECT_TRUE(machine == 0 || &architecture_of(machine, false) == &one ||
                  &architecture_of(machine, true) == &one)
          << one.name << " stands behind another entry that fits " << machine;
    EXPECT_NE(one.machine, 0) << one.name;
  }
}

TEST(Architectures, HaveEachRegisterInOnePlace) {
  for (const auto& one : architectures()) {
    for (const auto& places : layouts_of(one)) {
      ASSERT_TRUE(one.stack_pointer) << one.name;
      EXPECT_TRUE(have(places, *one.stack_pointer)) << one.name << ": the stack pointer is missing";
      std::set<int> numbers, bytes;
      for (const auto& run : places.runs) {
        for (int i = 0; i < run.count; ++i)
          EXPECT_TRUE(numbers.insert(run.number + i).second) << one.name << ' ' << run.number + i;
        for (int i = 0; i < run.count * run.size; ++i)
          EXPECT_TRUE(bytes.insert(run.offset + i).second) << one.name << ' ' << run.offset + i;
      }
    }
  }
}

TEST(Architectures, OfTwoPacketsTheLongerOneStandsFirst) {
  for (const auto& one : architectures()) {
    const auto& [first, second] = one.live_registers;
    EXPECT_TRUE(second.size == 0 || first.program_counter > second.program_counter) << one.name;
  }
}

TEST(Architectures, OfTwoNamesOfGdbTheLongerOneStandsFirst) {
  for (const auto& one : architectures()) {
    const auto& names = one.gdb_names;
    EXPECT_FALSE(names[0].begin.empty()) << one.name;
    for (std::size_t i = 0; i < names.size(); ++i)
      for (std::size_t j = i + 1; j < names.size() && !names[j].begin.empty(); ++j)
        EXPECT_TRUE(!names[i].begin.empty() && !names[j].begin.starts_with(names[i].begin))
            << one.name << " never compares with " << names[j].begin;
  }
}

/// A call is known by the number that the kernel keeps, or by the instruction and registers.
TEST(Architectures, HaveWhatTellsASystemCall) {
  for (const auto& one : architectures()) {
    const auto& calls = one.system_calls;
    for (const auto& places : layouts_of(one)) {
      EXPECT_EQ(places.kept_call != 0, calls.restart.has_value()) << one.name;
      if (calls.opcode.empty())
        continue;
      EXPECT_TRUE(have(places, calls.result)) << one.name;
      EXPECT_TRUE(calls.restart || have(places, calls.number)) << one.name;
      EXPECT_TRUE(calls.restart || calls.has_number || calls.steps_back ||
                  calls.number != calls.result)
          << one.name << ": the result overwrites the number";
    }
    EXPECT_TRUE(calls.opcode.empty() || calls.numbering != 0) << one.name;
  }
}

} // namespace
} // namespace mqbridge
