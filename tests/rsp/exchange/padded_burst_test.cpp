// The bursts of Connection::pad_bursts() byte by byte; qemu_user_test.cpp has the real stubs.

#include "rsp/exchange/connection.h"
#include "tests/rsp/exchange/wire_peer.h"

#include <chrono>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <string>
#include <vector>

namespace mqbridge::rsp {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

constexpr const char* marker = "qqemu.sstepbits";
constexpr const char* marker_reply = "ENABLE=1,NOIRQ=2,NOTIMER=4";

const std::vector<std::string> two_reads = {"m0,1", "m1,1"};

std::unique_ptr<Connection> padding(WirePeer& peer, ConnectionOptions options = {}) {
  auto connection = peer.connect(std::move(options));
  connection->pad_bursts(marker, marker_reply);
  return connection;
}

/// One buffer of the stub and the acknowledgements behind it.
std::string block(const std::vector<std::string>& requests) {
  std::string bytes;
  for (const auto& request : requests)
    bytes += encode(request);
  bytes.resize(256, '+');
  return bytes + std::string(requests.size(), '+');
}

std::string answer(std::string_view payload) {
  return "+" + encode(payload);
}

/// What the stub hears, without the acknowledgements.
class Requests {
public:
  explicit Requests(WirePeer& stub) : stub_(&stub) {}
  std::string next() {
    while (true) {
      while (const auto event = decoder_.next()) {
        if (event->kind == Decoder::Kind::packet)
          return std::string(event->bytes);
      }
      const std::string bytes = stub_->read_some();
      if (bytes.empty())
        return "(nothing)";
      decoder_.feed(bytes);
    }
  }
  void expect_one_at_a_time(const std::vector<std::string>& requests,
                            const std::vector<std::string>& replies) {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      EXPECT_EQ(next(), requests[i]);
      while (const auto more = decoder_.next())
        EXPECT_EQ(more->kind, Decoder::Kind::ack); // not the next request yet
      stub_->send(answer(replies[i]));
    }
  }

private:
  WirePeer* stub_;
  Decoder decoder_;
};

/// The stub's side of falling back: the marker is asked for, then the reads come one by one.
void answer_one_at_a_time(WirePeer& stub) {
  Requests requests(stub);
  EXPECT_EQ(requests.next(), marker);
  stub.send(answer(marker_reply));
  requests.expect_one_at_a_time(two_reads, {"aa", "bb"});
}

TEST(PaddedBurst, FillsTheStubsBufferAndAcknowledgesBehindIt) {
  WirePeer peer;
  peer.play([](WirePeer& stub) {
    EXPECT_EQ(stub.read_some(), block(two_reads)); // one send
    stub.send(answer("aa") + answer("bb"));
  });
  const auto connection = padding(peer);
  const auto replies = connection->burst(two_reads);
  ASSERT_TRUE(replies) << replies.error().message;
  EXPECT_THAT(*replies, ElementsAre("aa", "bb"));
  EXPECT_EQ(connection->counters().round_trips, 2U);
  peer.finish();
  EXPECT_TRUE(peer.is_quiet_for(50ms)); // no `+` more
}

/// One buffer first, then two, then four at once: never more than a small segment takes.
TEST(PaddedBurst, GrowsToFourBuffers) {
  std::vector<std::string> requests;
  for (int i = 0; i < 23 * 9; ++i)
    requests.push_back(fmt::format("m{:05x},1", i)); // 12 bytes each in their frames: 21 a buffer
  WirePeer peer;
  std::vector<std::size_t> sends;
  peer.play([&](WirePeer& stub) {
    Decoder decoder;
    for (std::size_t answered = 0; answered < requests.size();) {
      const std::string bytes = stub.read_some();
      if (bytes.empty())
        return;
      sends.push_back(bytes.size());
      decoder.feed(bytes);
      std::string replies;
      while (const auto event = decoder.next()) {
        if (event->kind == Decoder::Kind::packet) {
          EXPECT_EQ(event->bytes, requests[answered]);
          replies += answer(fmt::format("{:02x}", answered++ % 256));
        }
      }
      stub.send(replies);
    }
  });
  const auto connection = padding(peer);
  const auto replies = connection->burst(requests);
  peer.finish();
  ASSERT_TRUE(replies) << replies.error().message;
  ASSERT_EQ(replies->size(), requests.size());
  for (std::size_t i = 0; i < replies->size(); ++i)
    EXPECT_EQ((*replies)[i], fmt::format("{:02x}", i % 256));
  const std::size_t full = 256 + 256 / encode(requests[0]).size();
  ASSERT_GE(sends.size(), 4U);
  EXPECT_EQ(sends[0], full);
  EXPECT_EQ(sends[1], 2 * full);
  EXPECT_EQ(sends[2], 4 * full);
  EXPECT_LE(sends[3], 4 * full);
}

TEST(PaddedBurst, ARequestLongerThanTheBufferGoesAlone) {
  const std::string path(300, '6');
  const std::string open = "vFile:open:" + path + ",0,0";
  WirePeer peer;
  peer.play([&](WirePeer& stub) {
    stub.expect_packet(open);
    stub.send(answer("F-1,2"));
    stub.expect("+");
  });
  const auto replies = padding(peer)->burst(std::vector<std::string>{open});
  ASSERT_TRUE(replies) << replies.error().message;
  EXPECT_THAT(*replies, ElementsAre("F-1,2"));
}

struct Surplus {
  const char* what;
  std::string bytes;
};

TEST(PaddedBurst, WhateverDoesNotPairEndsPadding) {
  const Surplus cases[] = {
      {"a reply twice", answer("aa") + encode("aa") + answer("bb")},
      {"a reply without `+`", encode("aa") + answer("bb")},
      {"a `+` too many", "+" + answer("aa") + answer("bb")},
      {"a NAK", "-"},
      {"a storm",
       [] {
         std::string bytes = "+";
         for (int i = 0; i < 1000; ++i)
           bytes += encode("aa");
         return bytes;
       }()},
      {"a damaged reply", "+$aa#00" + answer("bb")},
      {"something else", "hello" + answer("aa") + answer("bb")},
  };
  for (const auto& [what, bytes] : cases) {
    WirePeer peer;
    peer.play([bytes = bytes](WirePeer& stub) {
      stub.expect(block(two_reads));
      stub.send(bytes);
      answer_one_at_a_time(stub);
    });
    const auto connection = padding(peer);
    const auto replies = connection->burst(two_reads);
    ASSERT_TRUE(replies) << what << ": " << replies.error().message;
    EXPECT_THAT(*replies, ElementsAre("aa", "bb")) << what;
    peer.finish();
    // For good: the next burst goes one at a time at once.
    peer.play([](WirePeer& stub) { Requests(stub).expect_one_at_a_time(two_reads, {"cc", "dd"}); });
    EXPECT_THAT(connection->burst(two_reads).value(), ElementsAre("cc", "dd")) << what;
  }
}

TEST(PaddedBurst, AReplyThatComesAfterwardsEndsPaddingToo) {
  WirePeer peer;
  peer.play([](WirePeer& stub) {
    stub.expect(block(two_reads));
    stub.send(answer("aa") + answer("bb") + encode("bb"));
  });
  const auto connection = padding(peer);
  ASSERT_TRUE(connection->burst(two_reads));
  peer.finish();
  peer.play(answer_one_at_a_time);
  const auto replies = connection->burst(two_reads);
  ASSERT_TRUE(replies) << replies.error().message;
  EXPECT_THAT(*replies, ElementsAre("aa", "bb"));
}

TEST(PaddedBurst, AMarkerThatGetsLostIsAskedAgain) {
  WirePeer peer;
  peer.play([](WirePeer& stub) {
    stub.expect(block(two_reads));
    stub.send(encode("aa"));
    EXPECT_EQ(Requests(stub).next(), marker);
    stub.send(encode("aa")); // the stub has taken the marker for an acknowledgement
    answer_one_at_a_time(stub);
  });
  const auto replies = padding(peer)->burst(two_reads);
  ASSERT_TRUE(replies) << replies.error().message;
  EXPECT_THAT(*replies, ElementsAre("aa", "bb"));
}

TEST(PaddedBurst, AStubThatNeverFindsBackIsAnError) {
  WirePeer peer;
  peer.play([](WirePeer& stub) {
    stub.expect(block(two_reads));
    stub.send(encode("aa"));
    while (!stub.read_some().empty()) {
    }
  });
  {
    const auto connection = padding(peer, {.name = "peer", .silence_timeout = 300ms});
    const auto replies = connection->burst(two_reads);
    ASSERT_FALSE(replies);
    EXPECT_THAT(std::string(replies.error().code), testing::AnyOf("stub.garbage", "stub.timeout"));
  }
}

TEST(PaddedBurst, RepliesToABurstThatWasGivenUpAnswerNoOther) {
  WirePeer peer;
  const auto connection = padding(peer);
  peer.play([&](WirePeer& stub) {
    stub.expect(block(two_reads));
    stub.send(answer("11"));
    connection->set_deadline(Connection::Clock::now());
  });
  const auto given_up = connection->burst(two_reads);
  peer.finish();
  ASSERT_FALSE(given_up);
  EXPECT_EQ(given_up.error().code, "stop.limit");
  connection->set_deadline(std::nullopt);
  peer.play([](WirePeer& stub) {
    stub.send(answer("22"));
    answer_one_at_a_time(stub);
  });
  const auto replies = connection->burst(two_reads);
  ASSERT_TRUE(replies) << replies.error().message;
  EXPECT_THAT(*replies, ElementsAre("aa", "bb"));
}

TEST(PaddedBurst, CancelEndsItAndTheNextExchangeIsInStep) {
  WirePeer peer;
  const auto connection = padding(peer);
  peer.play([&](WirePeer& stub) {
    stub.expect(block(two_reads));
    stub.send(answer("aa"));
    connection->cancel();
    stub.expect_packet("D;1");
    stub.send(answer("bb") + answer("OK"));
  });
  const auto replies = connection->burst(two_reads);
  ASSERT_FALSE(replies);
  EXPECT_EQ(replies.error().code, "interrupted");
  const auto exemption = connection->exempt("D", 2s);
  EXPECT_EQ(connection->request("D;1").value(), "OK");
}

} // namespace
} // namespace mqbridge::rsp
