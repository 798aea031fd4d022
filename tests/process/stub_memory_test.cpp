// Where the readable memory of a stub ends, and what it costs to find out.

#include "host/process/live/stub_memory.h"
#include "tests/support/connected.h"
#include "tests/support/stub_memory.h"

#include <cstddef>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace mqbridge {
namespace {

constexpr std::uint64_t start = 0x7f0000001000;
constexpr std::size_t page = 4096;

struct Cost {
  std::size_t read;
  std::uint64_t round_trips;
};

/// Reads four pages of which `readable` bytes are there.
Cost read_four_pages(const std::string& announced, std::size_t readable) {
  test::ScriptedStub stub;
  test::StubMemory memory;
  memory.put(start, test::pattern(start, readable));
  memory.serve(stub, test::AtHole::refuse, test::BinaryForm::none, 16 * page);
  stub.on("qSupported",
          test::Answer::packet(fmt::format("PacketSize=20000;QStartNoAckMode+;{}", announced)));
  const auto client = test::connected(stub);
  if (!client)
    return {};
  StubMemory target(*client);
  std::vector<std::byte> bytes(4 * page);
  std::vector<MemoryRange> ranges{{{start}, bytes}};
  const auto before = client->counters().round_trips;
  EXPECT_TRUE(target.read_ranges(ranges));
  return {ranges.front().read, client->counters().round_trips - before};
}

TEST(StubMemoryTest, OfAProcessMemoryEndsAtAPage) {
  const auto cost = read_four_pages("QNonStop+", 2 * page); // as gdbserver
  EXPECT_EQ(cost.read, 2 * page);
  EXPECT_EQ(cost.round_trips, 4U) << "all, its halves, and whether the process is there";
}

TEST(StubMemoryTest, OfAStubThatIsNotKnownARefusalIsLookedInto) {
  EXPECT_EQ(read_four_pages("qXfer:auxv:read+", 2 * page + 100).read, 2 * page + 100);
}

TEST(StubMemoryTest, WithoutAnOperatingSystemItMayEndAnywhere) {
  EXPECT_EQ(read_four_pages("", 2 * page + 100).read, 2 * page + 100);
}

} // namespace
} // namespace mqbridge
