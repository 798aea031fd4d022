// Which requests read_memory() makes of what it is asked for, and what it believes of the answers.

#include "rsp/commands/read_memory.h"
#include "tests/support/connected.h"
#include "tests/support/scripted_stub.h"
#include "tests/support/stub_memory.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mqbridge::rsp {
namespace {

using namespace std::chrono_literals;
using test::Answer;
using test::AtHole;
using test::BinaryForm;
using test::connected;
using test::pattern;
using test::ScriptedStub;
using test::StubMemory;

constexpr std::uint64_t start = 0x7f0000001000;
using limits::page;

struct Range {
  std::uint64_t address;
  std::size_t length;
};

/// Buffers of their own for some ranges, and the requests for them.
class Reads {
public:
  explicit Reads(const std::vector<Range>& ranges) {
    buffers_.reserve(ranges.size());
    for (const auto& [address, length] : ranges) {
      buffers_.emplace_back(length, std::byte{0x5a});
      requests.push_back({address, buffers_.back()});
    }
  }
  void expect_right(const StubMemory& memory) const {
    for (const ReadRequest& request : requests) {
      const std::string_view got(reinterpret_cast<const char*>(request.into.data()), request.read);
      const std::string wanted = memory.read(request.address, request.into.size());
      EXPECT_EQ(request.read, wanted.size()) << std::hex << request.address;
      EXPECT_TRUE(got == wanted) << std::hex << request.address;
    }
  }
  std::vector<ReadRequest> requests;

private:
  std::vector<std::vector<std::byte>> buffers_;
};

std::vector<Range> pages(std::uint64_t from, std::size_t count) {
  std::vector<Range> ranges;
  for (std::size_t i = 0; i < count; ++i)
    ranges.push_back({from + i * page, page});
  return ranges;
}

/// A gdbserver with 16 KiB packets and memory at `start`; a second piece may follow.
class GdbserverMemory : public testing::Test {
protected:
  void serve(std::size_t mapped, AtHole at_hole = AtHole::refuse) {
    memory.put(start, pattern(start, mapped));
    memory.serve(stub, at_hole, BinaryForm::none, 0x23ff);
    client = connected(stub);
    ASSERT_TRUE(client);
    before_ = client->counters().round_trips;
  }
  std::uint64_t round_trips() const { return client->counters().round_trips - before_; }

  ScriptedStub stub{{.packet_size = "47ff"}};
  StubMemory memory;
  std::unique_ptr<Client> client;

private:
  std::uint64_t before_ = 0;
};

TEST_F(GdbserverMemory, RangesThatTouchShareRequests) {
  serve(64 * page);
  Reads reads(pages(start, 64));
  ASSERT_TRUE(read_memory(*client, reads.requests));
  reads.expect_right(memory);
  EXPECT_EQ(stub.count("m"), 32U); // two pages each
  EXPECT_EQ(round_trips(), 1U);
}

TEST_F(GdbserverMemory, OddRangesThatTouchKeepTheirBytes) {
  serve(64 * page);
  std::vector<Range> ranges;
  for (std::uint64_t at = start + 3; ranges.size() < 200; at += ranges.back().length)
    ranges.push_back({at, 1 + ranges.size() * 7 % 1000});
  Reads reads(ranges);
  ASSERT_TRUE(read_memory(*client, reads.requests));
  reads.expect_right(memory);
  EXPECT_LT(stub.count("m"), 20U);
}

TEST_F(GdbserverMemory, OthersAreNotJoined) {
  serve(64 * page);
  Reads reads({{start, 8},
               {start + 9, 8},
               {start + 16, 8},
               {start + 16, 8},
               {start + 8, 8},
               {start + 16, 0},
               {start + 16, 8}});
  ASSERT_TRUE(read_memory(*client, reads.requests));
  reads.expect_right(memory);
  EXPECT_EQ(stub.count("m"), 6U);
}

TEST_F(GdbserverMemory, OfJoinedRangesEachHasItsOwnHole) {
  memory.put(start + 40 * page, pattern(start + 40 * page, 3 * page + 77));
  serve(5 * page + 10);
  Reads reads(pages(start, 48));
  ASSERT_TRUE(read_memory(*client, reads.requests));
  reads.expect_right(memory);
  EXPECT_LE(round_trips(), 16U); // the bytes at two ends, found by halving; not one for each hole
}

TEST_F(GdbserverMemory, WholePagesCostNoExchangeForTheHolesBetween) {
  memory.put(start + 40 * page, pattern(start + 40 * page, 3 * page));
  serve(5 * page);
  Reads reads(pages(start, 48));
  ASSERT_TRUE(read_memory(*client, reads.requests, {.grain = page}));
  reads.expect_right(memory);
  EXPECT_EQ(round_trips(), 2U); // joined, and one by one
}

TEST_F(GdbserverMemory, AHoleWithinAPageIsNotLookedForWhereWholePagesAreWanted) {
  serve(2 * page + 100);
  Reads reads({{start, 4 * page}, {start + 2 * page + 50, 100}});
  ASSERT_TRUE(read_memory(*client, reads.requests, {.grain = page}));
  EXPECT_EQ(reads.requests[0].read, 2 * page);
  EXPECT_EQ(reads.requests[1].read, 0U);
}

TEST_F(GdbserverMemory, ShortReadsOfJoinedRangesAreFollowed) {
  memory.put(start + 10 * page, pattern(start + 10 * page, page));
  serve(5 * page + 10, AtHole::cut);
  Reads reads(pages(start, 12));
  ASSERT_TRUE(read_memory(*client, reads.requests));
  reads.expect_right(memory);
}

TEST_F(GdbserverMemory, AMarkerStandsBehindTheLastRead) {
  serve(page);
  Reads reads({{start, 8}});
  ASSERT_TRUE(read_memory(*client, reads.requests));
  EXPECT_THAT(stub.received().back(), "vMustReplyEmpty");
  EXPECT_EQ(round_trips(), 1U);
}

/// Both as long as each other, so that either reply would fit either request.
const std::vector<Range> two_reads = {{start, 64}, {start + 512, 64}};

TEST_F(GdbserverMemory, AReplyThatComesTwiceIsNotTheNextOnes) {
  serve(page);
  const auto once = test::to_hex(memory.read(start, 64));
  stub.expect(fmt::format("m{:x},40", start), Answer::packet(once).repeated(2));
  Reads reads(two_reads);
  const auto read = read_memory(*client, reads.requests);
  ASSERT_TRUE(read) << read.error().message;
  reads.expect_right(memory);
}

TEST_F(GdbserverMemory, AReplyThatComesTwiceAndLateIsNotThatOfTheNextRead) {
  serve(2 * page);
  const auto once = test::to_hex(memory.read(start, 64));
  // Behind the marker's answer: in the middle of whatever comes next.
  stub.expect(fmt::format("m{:x},40", start), Answer::packet(once));
  stub.expect("vMustReplyEmpty", Answer::packet(""));
  stub.expect(fmt::format("m{:x},40", start + 512),
              Answer::packet(test::to_hex(memory.read(start + 512, 64))).behind(test::frame(once)));
  for (const Range& range : two_reads) {
    Reads reads({range});
    const auto read = read_memory(*client, reads.requests);
    ASSERT_TRUE(read) << read.error().message;
    reads.expect_right(memory);
  }
}

TEST_F(GdbserverMemory, AReplyThatIsLostIsAskedForAgain) {
  serve(page);
  stub.expect(fmt::format("m{:x},40", start), Answer::nothing());
  Reads reads(two_reads);
  const auto read = read_memory(*client, reads.requests);
  ASSERT_TRUE(read) << read.error().message;
  reads.expect_right(memory);
}

TEST_F(GdbserverMemory, ADamagedReplyIsAskedForAgain) {
  serve(page);
  stub.expect(fmt::format("m{:x},40", start), Answer::raw("$0011#00"));
  Reads reads(two_reads);
  const auto read = read_memory(*client, reads.requests);
  ASSERT_TRUE(read) << read.error().message;
  reads.expect_right(memory);
}

TEST_F(GdbserverMemory, RepliesThatNeverPairAreAnError) {
  serve(page);
  stub.on("m", Answer::packet("00112233").repeated(2));
  Reads reads({{start, 4}, {start + 512, 4}});
  const auto read = read_memory(*client, reads.requests);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, "stub.garbage");
  EXPECT_THAT(read.error().message, testing::HasSubstr("do not fit the reads"));
}

/// Without no-ack mode a reply that comes twice has no `+` of its own, or stands behind the first.
TEST(MemoryWithAcks, AReplyThatComesTwiceIsNotTheNextOnes) {
  ScriptedStub stub({.packet_size = "1000", .no_ack = false});
  StubMemory memory;
  memory.put(start, pattern(start, page));
  memory.serve(stub, AtHole::refuse, BinaryForm::none, 0x7ff);
  stub.expect(fmt::format("m{:x},40", start),
              Answer::packet(test::to_hex(memory.read(start, 64))).repeated(2));
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  Reads reads(two_reads);
  const auto read = read_memory(*client, reads.requests);
  ASSERT_TRUE(read) << read.error().message;
  reads.expect_right(memory);
}

/// Refused for a hole, or for the length of its reply? The question is put once more, by `m`.
TEST(MemoryInSmallPackets, ARefusedBinaryReadIsNotRepeatedWithoutEnd) {
  ScriptedStub stub({.packet_size = "400", .announces_binary_read = true});
  StubMemory memory;
  memory.put(start, pattern(start, page));
  memory.serve(stub, AtHole::refuse, BinaryForm::gdb, 0x1ff);
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  client->set_deadline(std::chrono::steady_clock::now() + 5s);
  Reads reads(pages(start, 3));
  const auto read = read_memory(*client, reads.requests, {.grain = page});
  ASSERT_TRUE(read) << read.error().message;
  reads.expect_right(memory);
}

TEST(MemoryOfLldbServer, APageThatBeginsLikeAnErrorIsNoHole) {
  ScriptedStub stub({.packet_size = "131072"});
  StubMemory memory;
  memory.put(start, "E." + pattern(start, page - 2));
  memory.serve(stub, AtHole::cut, BinaryForm::lldb, 64 * 1024);
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  ASSERT_EQ(client->features().binary_read, BinaryRead::lldb);
  Reads reads(pages(start, 1));
  ASSERT_TRUE(read_memory(*client, reads.requests, {.grain = page}));
  reads.expect_right(memory);
}

/// A debugserver that reads many ranges for one request.
class MultiMemRead : public testing::Test {
protected:
  void serve(const std::string& answer = {}) {
    memory.put(start, pattern(start, 8 * page));
    stub.on("qSupported", Answer::packet("PacketSize=20000;QStartNoAckMode+;MultiMemRead+"));
    memory.serve(stub, AtHole::cut, BinaryForm::lldb, 64 * 1024);
    stub.on("MultiMemRead:", [this, answer](std::string_view payload) {
      return Answer::packet(answer.empty() ? many(payload) : answer);
    });
    client = connected(stub);
    ASSERT_TRUE(client);
  }
  /// "LENGTH,LENGTH,...;" and the bytes.
  std::string many(std::string_view payload) const {
    std::string lengths;
    std::string bytes;
    std::string rest(payload.substr(payload.rfind(':') + 1));
    for (std::size_t at = 0; at < rest.size();) {
      std::size_t used = 0;
      const auto address = std::stoull(rest.substr(at), &used, 16);
      at += used + 1;
      const auto length = std::stoull(rest.substr(at), &used, 16);
      at += used + 1;
      const std::string got = memory.read(address, length);
      lengths += fmt::format("{}{:x}", lengths.empty() ? "" : ",", got.size());
      bytes += got;
    }
    return lengths + ";" + bytes;
  }

  ScriptedStub stub;
  StubMemory memory;
  std::unique_ptr<Client> client;
};

TEST_F(MultiMemRead, BringsScatteredRangesTogether) {
  serve();
  std::vector<Range> ranges;
  for (std::size_t i = 0; i < 100; ++i)
    ranges.push_back({start + i * 200, 24});
  ranges.push_back({start + 8 * page - 10, 24}); // into a hole
  ranges.push_back({start + 9 * page, 24});      // in one
  Reads reads(ranges);
  ASSERT_TRUE(read_memory(*client, reads.requests));
  reads.expect_right(memory);
  EXPECT_EQ(stub.count("MultiMemRead:"), 4U);       // the last one: is it really a hole?
  EXPECT_LE(stub.count("x") + stub.count("m"), 5U); // the probe
}

TEST_F(MultiMemRead, IsNotAskedForOneRange) {
  serve();
  Reads reads({{start, 64}});
  ASSERT_TRUE(read_memory(*client, reads.requests));
  reads.expect_right(memory);
  EXPECT_EQ(stub.count("MultiMemRead:"), 0U);
}

TEST_F(MultiMemRead, AnswersThatDoNotFitAreNotBelieved) {
  for (const std::string answer :
       {"4,4", "4;aaaabbbb", "4,4;aaaabbbbc", "4,5;aaaabbbbb", "4,4,4;aaaabbbbcccc", "4,4;aaaa",
        "x,4;aaaa", ",;", "OK", "E01"}) {
    ScriptedStub odd;
    odd.on("qSupported", Answer::packet("PacketSize=20000;QStartNoAckMode+;MultiMemRead+"));
    odd.on("MultiMemRead:", Answer::packet(answer));
    odd.on("m", Answer::packet("01020304"));
    const auto one = connected(odd);
    ASSERT_TRUE(one);
    Reads reads({{start, 4}, {start + 100, 4}});
    // It is asked again without the packet: then it answers well.
    const auto read = read_memory(*one, reads.requests);
    ASSERT_TRUE(read) << answer << ": " << read.error().message;
    EXPECT_EQ(odd.count("m"), 2U) << answer;
    for (const ReadRequest& request : reads.requests)
      EXPECT_EQ(request.read, 4U) << answer;
  }
}

} // namespace
} // namespace mqbridge::rsp
