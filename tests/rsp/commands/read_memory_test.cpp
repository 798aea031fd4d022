#include "rsp/commands/read_memory.h"
#include "tests/support/connected.h"
#include "tests/support/scripted_stub.h"
#include "tests/support/stub_memory.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge::rsp {
namespace {

using test::Answer;
using test::AtHole;
using test::BinaryForm;
using test::connected;
using test::pattern;
using test::ScriptedStub;
using test::StubMemory;

std::string text_of(const ReadRequest& request) {
  return {reinterpret_cast<const char*>(request.into.data()), request.read};
}

/// What a stub can be: its packet size, its binary read, and what it does at holes.
struct Kind {
  std::string name;
  std::string packet_size;
  BinaryForm form;
  AtHole at_hole;
  std::size_t longest() const {
    const std::size_t size = std::stoul(packet_size, nullptr, 16);
    return (std::min(size, std::size_t{128} << 10) - 1) / 2;
  }
};

std::ostream& operator<<(std::ostream& out, const Kind& kind) {
  return out << kind.name;
}

class MemoryOf : public testing::TestWithParam<Kind> {
protected:
  void serve(const StubMemory& memory) {
    client_.reset(); // the stub has one client at a time
    memory.serve(stub_, GetParam().at_hole, GetParam().form, GetParam().longest());
    client_ = connected(stub_);
    ASSERT_TRUE(client_);
  }

  /// Reads and compares with what is there: bytes and count, to the byte.
  void expect_read(const StubMemory& memory, std::uint64_t address, std::size_t length) {
    std::vector<std::byte> into(length, std::byte{0x5a});
    ReadRequest request{address, into};
    const auto result = read_memory(*client_, {&request, 1});
    ASSERT_TRUE(result) << result.error().message;
    const std::string wanted = memory.read(address, length);
    EXPECT_EQ(request.read, wanted.size()) << fmt::format("{:x},{:x}", address, length);
    EXPECT_TRUE(text_of(request) == wanted) << fmt::format("{:x},{:x}", address, length);
  }

  ScriptedStub stub_{{.packet_size = GetParam().packet_size}};
  std::unique_ptr<Client> client_;
};

constexpr std::uint64_t pattern_start = 0x7f0000001000;

TEST_P(MemoryOf, ReadsOfEverySizeAndAlignment) {
  StubMemory memory;
  memory.put(pattern_start, pattern(pattern_start, 0x30000));
  serve(memory);
  for (const std::size_t offset : {0x0, 0x1, 0x7, 0xfff, 0x1000, 0x1ff8})
    for (const std::size_t length : {0, 1, 2, 3, 4, 8, 100, 4095, 4096, 4097, 9215, 70'000})
      expect_read(memory, pattern_start + offset, length);
}

TEST_P(MemoryOf, CountsToTheFirstHoleExactly) {
  // Mapped lengths: nothing, a byte, parts of pages, whole pages, more than a packet.
  for (const std::size_t mapped : {0, 1, 5, 100, 4095, 4096, 4097, 8192, 20'480, 23'456}) {
    StubMemory memory;
    memory.put(pattern_start, pattern(pattern_start, mapped));
    memory.put(pattern_start + 0x8000, pattern(pattern_start + 0x8000, 0x1000)); // behind the hole
    serve(memory);
    for (const std::size_t offset : {0, 3, 4000})
      expect_read(memory, pattern_start + offset, 0xa000);
  }
}

TEST_P(MemoryOf, ManyRequestsAtOnceKeepTheirOwnCounts) {
  StubMemory memory;
  memory.put(pattern_start, pattern(pattern_start, 0x2000));
  memory.put(pattern_start + 0x3000, pattern(pattern_start + 0x3000, 0x1000));
  serve(memory);
  std::vector<std::vector<std::byte>> buffers(500, std::vector<std::byte>(64));
  std::vector<ReadRequest> requests;
  for (std::size_t i = 0; i < buffers.size(); ++i)
    requests.push_back({pattern_start + i * 40, buffers[i]});
  const auto result = read_memory(*client_, requests);
  ASSERT_TRUE(result) << result.error().message;
  for (const ReadRequest& request : requests)
    EXPECT_EQ(text_of(request), memory.read(request.address, 64)) << std::hex << request.address;
}

TEST_P(MemoryOf, TheTopOfTheAddressSpaceIsAnEnd) {
  const std::uint64_t top = UINT64_MAX - 0xfff;
  StubMemory memory;
  memory.put(top, pattern(top, 0x1000));
  serve(memory);
  std::vector<std::byte> into(0x2000);
  ReadRequest request{top + 0x800, into};
  ASSERT_TRUE(read_memory(*client_, {&request, 1}));
  EXPECT_EQ(text_of(request), pattern(top + 0x800, 0x800));
}

INSTANTIATE_TEST_SUITE_P(
    Stubs, MemoryOf,
    testing::Values(Kind{"gdbserver13", "47ff", BinaryForm::none, AtHole::refuse},
                    Kind{"gdbserver16", "20003", BinaryForm::gdb, AtHole::refuse},
                    Kind{"lldb", "131072", BinaryForm::lldb, AtHole::cut},
                    Kind{"rr", "4000", BinaryForm::none, AtHole::cut},
                    Kind{"qemu", "1000", BinaryForm::none, AtHole::refuse},
                    Kind{"tiny", "40", BinaryForm::none, AtHole::refuse}),
    [](const auto& kind) { return kind.param.name; });

TEST(Memory, AHoleCostsAFewExchanges) {
  ScriptedStub stub({.packet_size = "47ff"});
  StubMemory memory;
  memory.put(pattern_start, pattern(pattern_start, 0x3000));
  memory.serve(stub, AtHole::refuse, BinaryForm::none, 0x23ff);
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  std::vector<std::byte> into(0x4000);
  ReadRequest request{pattern_start, into};
  const auto before = client->counters().round_trips;
  ASSERT_TRUE(read_memory(*client, {&request, 1}));
  EXPECT_EQ(request.read, 0x3000);
  // Both pairs of pages at once, the third page, the fourth, a byte of it.
  EXPECT_LE(client->counters().round_trips - before, 4);
}

TEST(Memory, IsPipelined) {
  ScriptedStub stub({.packet_size = "47ff"});
  StubMemory memory;
  memory.put(pattern_start, pattern(pattern_start, 0x100000));
  memory.serve(stub, AtHole::refuse, BinaryForm::none, 0x23ff);
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  std::vector<std::byte> into(0x100000);
  ReadRequest request{pattern_start, into};
  const auto before = client->counters().round_trips;
  ASSERT_TRUE(read_memory(*client, {&request, 1}));
  EXPECT_EQ(text_of(request), pattern(pattern_start, 0x100000));
  EXPECT_EQ(stub.count("m"), 0x100000 / 0x2000);
  EXPECT_GT(stub.most_outstanding(), 4);
  EXPECT_LE(client->counters().round_trips - before, 4);
}

TEST(Memory, InAckModeOneAtATime) {
  ScriptedStub stub({.packet_size = "1000", .no_ack = false});
  StubMemory memory;
  memory.put(pattern_start, pattern(pattern_start, 0x4000));
  memory.serve(stub, AtHole::refuse, BinaryForm::none, 0x7ff);
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  std::vector<std::byte> into(0x4000);
  ReadRequest request{pattern_start, into};
  ASSERT_TRUE(read_memory(*client, {&request, 1}));
  EXPECT_EQ(text_of(request), pattern(pattern_start, 0x4000));
  EXPECT_EQ(stub.most_outstanding(), 1);
}

/// gdbserver 16 refuses an `x` whose escapes do not fit: no hole.
TEST(Memory, ABinaryReadThatDoesNotFitIsTriedInParts) {
  ScriptedStub stub({.packet_size = "8000", .announces_binary_read = true});
  const std::string all_escaped(0x4000, '}');
  StubMemory memory;
  memory.put(pattern_start, all_escaped);
  memory.serve(stub, AtHole::refuse, BinaryForm::none, 0x4000);
  stub.on("x", [&memory](std::string_view payload) {
    std::uint64_t address = 0;
    std::uint64_t length = 0;
    const std::size_t comma = payload.find(',');
    address = std::stoull(std::string(payload.substr(1, comma - 1)), nullptr, 16);
    length = std::stoull(std::string(payload.substr(comma + 1)), nullptr, 16);
    return Answer::packet(length > 0x500 ? "E01" : "b" + memory.read(address, length));
  });
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  ASSERT_EQ(client->features().binary_read, BinaryRead::gdb);
  std::vector<std::byte> into(0x4000);
  ReadRequest request{pattern_start, into};
  ASSERT_TRUE(read_memory(*client, {&request, 1}));
  EXPECT_EQ(text_of(request), all_escaped);
}

struct BadReply {
  std::string reply;
  std::string code;
};

TEST(Memory, BadRepliesAreErrors) {
  for (const auto& [reply, code] :
       {BadReply{"", "memory.unsupported"}, BadReply{"0", "stub.garbage"},
        BadReply{"012", "stub.garbage"}, BadReply{"zz", "stub.garbage"},
        BadReply{"0g", "stub.garbage"}, BadReply{"OK", "stub.garbage"},
        BadReply{"000102030405060708", "stub.garbage"}}) { // nine bytes for eight
    ScriptedStub stub;
    stub.on("m", Answer::packet(reply));
    const auto client = connected(stub);
    ASSERT_TRUE(client);
    std::vector<std::byte> into(8);
    ReadRequest request{pattern_start, into};
    const auto result = read_memory(*client, {&request, 1});
    ASSERT_FALSE(result) << reply;
    EXPECT_EQ(result.error().code, code) << reply;
    EXPECT_EQ(request.read, 0) << reply;
  }
}

TEST(Memory, BadBinaryRepliesAreErrors) {
  for (const std::string reply : {"zabc", "bxxxxxxxxx"}) { // no prefix; nine bytes for eight
    ScriptedStub stub({.announces_binary_read = true});
    stub.on("x", Answer::packet(reply));
    const auto client = connected(stub);
    ASSERT_TRUE(client);
    std::vector<std::byte> into(8);
    ReadRequest request{pattern_start, into};
    const auto result = read_memory(*client, {&request, 1});
    ASSERT_FALSE(result) << reply;
    EXPECT_EQ(result.error().code, "stub.garbage") << reply;
  }
}

TEST(Memory, AStubThatClosesInTheMiddleIsAnError) {
  ScriptedStub stub({.packet_size = "47ff"});
  StubMemory memory;
  memory.put(pattern_start, pattern(pattern_start, 0x4000));
  memory.serve(stub, AtHole::refuse, BinaryForm::none, 0x23ff);
  stub.on(fmt::format("m{:x}", pattern_start + 0x2000), Answer::cut("00112233", 5).closing());
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  std::vector<std::byte> into(0x4000);
  ReadRequest request{pattern_start, into};
  const auto result = read_memory(*client, {&request, 1});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "stub.closed");
}

} // namespace
} // namespace mqbridge::rsp
