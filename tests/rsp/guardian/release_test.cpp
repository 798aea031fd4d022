// How the guardian program leaves one connection, and what it takes for a packet, without the
// program.

#include "rsp/guardian/program/packet_scanner.h"
#include "rsp/guardian/program/release.h"
#include "rsp/packet/codec.h"
#include "rsp/unique_fd.h"
#include "tests/support/faults_tried.h"

#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <vector>

namespace mqbridge::rsp::guardian {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(PacketScanner, TakesPacketsWithTheRightChecksumOnly) {
  EXPECT_THAT(PacketScanner().feed("$OK#9a"), ElementsAre("OK"));
  EXPECT_THAT(PacketScanner().feed("$OK#9A"), ElementsAre("OK")) << "in the digits of some stubs";
  EXPECT_THAT(PacketScanner().feed("$OK#9b"), IsEmpty());
  EXPECT_THAT(PacketScanner().feed("$\x10#10"), ElementsAre("\x10"));
  EXPECT_THAT(PacketScanner().feed("$\x10#0g"), IsEmpty()) << "no digit stands for sixteen";
}

/// A socket to a stub that this test plays, and the release of what is behind it.
class ReleaseTest : public testing::Test {
protected:
  ReleaseTest() { renew(); }
  void renew() {
    release_.reset();
    std::array<int, 2> ends{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()), 0);
    stub_ = UniqueFd(ends[0]);
    end_ = ends[1];
  }
  void release(std::vector<std::string> packets, Manner manner = Manner::detach) {
    release_.emplace(end_, std::move(packets), manner, now_);
    advance();
  }
  void advance() {
    pollfd polled{release_->descriptor(), release_->wanted_events(), 0};
    poll(&polled, 1, 0);
    release_->advance(polled.revents, now_);
  }
  /// As much of it as the socket takes.
  std::size_t say(std::string_view bytes) const {
    const ssize_t count = send(stub_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    return count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  std::string hear() const {
    std::string all;
    std::array<char, 65536> bytes;
    for (ssize_t count; (count = recv(stub_.get(), bytes.data(), bytes.size(), 0)) > 0;)
      all.append(bytes.data(), static_cast<std::size_t>(count));
    return all;
  }

  Clock::time_point now_ = Clock::now();
  UniqueFd stub_;
  int end_ = -1; ///< release_ closes it
  std::optional<Release> release_;
};

TEST_F(ReleaseTest, AStubThatTalksAndNeverReadsCostsNoMemory) {
  test::faults_tried(1);
  release({"D;1f"});
  std::string packets;
  while (packets.size() < 65536)
    packets += "$#00";
  constexpr std::size_t flood = 16'000'000;
  for (std::size_t said = 0; said < flood; said += packets.size()) {
    // Whole packets: what the socket does not take at once is said before the next block.
    for (std::size_t at = 0; at < packets.size(); advance())
      at += say(std::string_view(packets).substr(at));
  }
  ASSERT_FALSE(release_->done());
  std::size_t heard = 0;
  for (std::string more = hear(); !more.empty(); more = hear()) {
    heard += more.size();
    advance();
  }
  // An acknowledgement of each would be some four million bytes.
  EXPECT_LT(heard, std::size_t{1'000'000});
  // It still understands when the stub comes to its senses.
  EXPECT_EQ(say("$OK#9a"), 6U);
  advance();
  EXPECT_EQ(hear(), "+");
}

TEST_F(ReleaseTest, RegistersAreWrittenToTheirThread) {
  release({"z0,1000,1", write_registers("Hgp1f.20", "", "1234"), "D;1f"});
  EXPECT_THAT(hear(), testing::HasSubstr("$Hgp1f.20#46+$qC#b4"));
  say("$OK#9a$OK#9a" + encode("QCp1f.20"));
  advance();
  EXPECT_THAT(hear(), AllOf(testing::HasSubstr(encode("G1234")), testing::HasSubstr("$D;1f#")));
  say("$OK#9a");
  advance();
  EXPECT_EQ(hear(), "+");
}

TEST_F(ReleaseTest, AnotherThreadKeepsItsRegisters) {
  release({write_registers("Hgp1f.20", "", "1234"), "D;1f"});
  say("$E01#a6" + encode("QCp1f.1f"));
  advance();
  EXPECT_THAT(hear(),
              AllOf(testing::HasSubstr("$D;1f#"), Not(testing::HasSubstr(encode("G1234")))));
}

/// A function that a debugger has called returns, while nobody looks.
TEST_F(ReleaseTest, AProcessThatRanGetsThemWhereTheFunctionReturnsTo) {
  for (const auto& [place, writes] :
       {std::pair("8f8e34b8fc7f0000", true), {"1122334455667788", false}}) {
    release({write_registers("Hgp1f.20", place, "1234"), "D;1f"}, Manner::wait);
    hear();
    say(encode("T0b06:288e34b8fc7f0000;10:8f8e34b8fc7f0000;thread:p1f.20;") + "$OK#9a" +
        encode("QCp01f.20"));
    advance();
    const std::string heard = hear();
    EXPECT_EQ(heard.find(encode("G1234")) != heard.npos, writes) << heard;
    EXPECT_THAT(heard, testing::HasSubstr("$D;1f#"));
    renew();
  }
}

TEST_F(ReleaseTest, AStubThatNamesNoThreadIsLeftAllTheSame) {
  release({write_registers("Hgp1f.20", "", "1234"), "D;1f"});
  say("$OK#9a$#00");
  for (int i = 0; i < 10; ++i) {
    now_ += std::chrono::milliseconds(300);
    advance();
  }
  EXPECT_THAT(hear(),
              AllOf(testing::HasSubstr("$D;1f#"), Not(testing::HasSubstr(encode("G1234")))));
}

} // namespace
} // namespace mqbridge::rsp::guardian
