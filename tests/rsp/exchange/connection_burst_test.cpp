#include "rsp/exchange/connection.h"
#include "tests/rsp/exchange/wire_peer.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <string>
#include <vector>

namespace mqbridge::rsp {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

std::vector<std::string> reads(int count, std::size_t length) {
  std::vector<std::string> requests;
  for (int i = 0; i < count; ++i)
    requests.push_back(fmt::format("m{:x},{:x}", i, length));
  return requests;
}

std::string joined(const std::vector<std::string>& payloads) {
  std::string bytes;
  for (const auto& payload : payloads)
    bytes += encode(payload);
  return bytes;
}

TEST(Burst, AllLeavesBeforeTheFirstReplyAndCostsOneRoundTrip) {
  const auto requests = reads(1000, 8);
  WirePeer peer;
  peer.play([&requests](WirePeer& stub) {
    stub.expect(joined(requests));
    std::string replies;
    for (std::size_t i = 0; i < requests.size(); ++i)
      replies += encode(fmt::format("{:04x}", i));
    stub.send(replies);
  });
  const auto connection = peer.connect();
  connection->set_no_ack();
  const auto replies = connection->burst(requests);
  ASSERT_TRUE(replies) << replies.error().message;
  ASSERT_EQ(replies->size(), 1000U);
  EXPECT_EQ(replies->front(), "0000");
  EXPECT_EQ(replies->back(), "03e7");
  EXPECT_EQ(connection->counters().requests, 1000U);
  EXPECT_EQ(connection->counters().round_trips, 2U);
}

TEST(Burst, OutstandingReplyBytesAreBounded) {
  constexpr std::size_t length = 8192;
  constexpr std::size_t limit = std::size_t{4} << 20; // of a link of which nothing is known
  const auto requests = reads(1000, length);
  WirePeer peer;
  std::size_t most = 0;
  peer.play([&](WirePeer& stub) {
    Decoder decoder;
    std::size_t asked = 0;
    for (std::size_t answered = 0; answered < requests.size(); ++answered) {
      // Give the client every chance to send more than it should.
      while (asked < requests.size() && (asked == answered || !stub.is_quiet_for(20ms)) &&
             asked - answered < 600) {
        decoder.feed(stub.read_some());
        while (decoder.next())
          ++asked;
      }
      most = std::max(most, asked - answered);
      const std::size_t batch = std::min<std::size_t>(asked - answered, 200);
      for (std::size_t i = 0; i < batch; ++i)
        stub.send_packet(std::string(2 * length, 'a'));
      answered += batch - 1;
    }
  });
  const auto connection = peer.connect();
  connection->set_no_ack();
  const auto replies = connection->burst(requests);
  peer.finish();
  ASSERT_TRUE(replies) << replies.error().message;
  EXPECT_EQ(replies->size(), requests.size());
  EXPECT_GT(most, 200U);
  EXPECT_LE(most * 2 * length, limit + 2 * length);
}

TEST(Burst, StubThatBlocksOnItsRepliesCannotDeadlock) {
  constexpr int count = 2000;
  const auto requests = reads(count, 1024);
  WirePeer peer;
  peer.play([](WirePeer& stub) {
    Decoder decoder;
    for (int answered = 0; answered < count;) {
      decoder.feed(stub.read_some());
      while (decoder.next()) {
        stub.send_packet(std::string(16'000, 'a')); // far more than was asked for
        ++answered;
      }
    }
  });
  const auto connection = peer.connect();
  connection->set_no_ack();
  const auto replies = connection->burst(requests);
  ASSERT_TRUE(replies) << replies.error().message;
  EXPECT_EQ(replies->size(), std::size_t{count});
}

TEST(Burst, OneAtATimeInAckModeTheAckTravellingWithTheNextRequest) {
  WirePeer peer;
  peer.play([](WirePeer& stub) {
    stub.expect_packet("m0,1");
    stub.send("+" + encode("aa"));
    // One segment each way: a lone `+` would wait 40 ms behind a relay.
    EXPECT_EQ(stub.read_some(), "+" + encode("m1,1"));
    stub.send("+" + encode("bb"));
    stub.expect("+");
  });
  const auto connection = peer.connect();
  const auto replies = connection->burst(std::vector<std::string>{"m0,1", "m1,1"});
  ASSERT_TRUE(replies) << replies.error().message;
  EXPECT_THAT(*replies, ElementsAre("aa", "bb"));
  EXPECT_EQ(connection->counters().round_trips, 3U);
}

TEST(Burst, RepliesOfAnAbandonedBurstAreSkipped) {
  WirePeer peer;
  peer.play([](WirePeer& stub) {
    stub.expect(joined({"m0,1", "m1,1", "m2,1"}));
    stub.send(encode("aa") + "$bb#00");
    stub.expect_packet("m3,1");
    stub.send_packet("cc");
    stub.send_packet("dd");
  });
  const auto connection = peer.connect();
  connection->set_no_ack();
  const auto burst = connection->burst(std::vector<std::string>{"m0,1", "m1,1", "m2,1"});
  ASSERT_FALSE(burst);
  EXPECT_EQ(burst.error().code, "stub.garbage");
  EXPECT_EQ(connection->request("m3,1").value(), "dd");
}

TEST(Burst, OfNothingSendsNothing) {
  WirePeer peer;
  const auto connection = peer.connect();
  connection->set_no_ack();
  EXPECT_TRUE(connection->burst({}).value().empty());
  EXPECT_TRUE(peer.is_quiet_for(20ms));
}

} // namespace
} // namespace mqbridge::rsp
