// Frames and what is known of them, without questions and replies; connection_test.cpp has those.

#include "rsp/exchange/frame_link.h"
#include "rsp/packet/codec.h"

#include <deque>
#include <gmock/gmock.h>
#include <memory>
#include <string>
#include <utility>

namespace mqbridge::rsp {
namespace {

using testing::HasSubstr;

/// What was sent, and what is to come.
struct Wire {
  std::string sent;
  std::size_t sends = 0;
  std::deque<std::string> coming;
};

class WireEnd final : public Transport {
public:
  explicit WireEnd(Wire& wire) : wire_(wire) {}
  void send(const Outgoing& bytes) override {
    wire_.sent += bytes.bytes();
    ++wire_.sends;
  }
  Received receive(Clock::time_point /*deadline*/) override {
    if (wire_.coming.empty())
      return {Received::Kind::closed, "reset"};
    now_ = std::move(wire_.coming.front());
    wire_.coming.pop_front();
    return {Received::Kind::data, now_};
  }
  void wake() override {}

private:
  Wire& wire_;
  std::string now_;
};

class FrameLinkTest : public testing::Test {
protected:
  void hear(std::string bytes) {
    wire.coming.push_back(std::move(bytes));
    ASSERT_EQ(link.receive({}).kind, Received::Kind::data);
  }

  Wire wire;
  FrameLink link{std::make_unique<WireEnd>(wire), "n1:7001", nullptr, read_only_policy()};
};

TEST_F(FrameLinkTest, WhatIsQueuedLeavesInOneSend) {
  ASSERT_TRUE(link.queue_request("?"));
  link.queue_ack();
  ASSERT_TRUE(link.queue_request("qC"));
  EXPECT_EQ(wire.sent, "");
  link.flush();
  link.flush();
  EXPECT_EQ(wire.sent, encode("?") + "+" + encode("qC"));
  EXPECT_EQ(wire.sends, 1U);
  EXPECT_EQ(link.counters().requests, 2U);
  EXPECT_EQ(link.counters().bytes_sent, wire.sent.size());
}

TEST_F(FrameLinkTest, WhatTheGateRefusesNeitherLeavesNorCounts) {
  EXPECT_EQ(link.queue_request("M0,1:00").error().code, "gate.refused");
  EXPECT_EQ(link.queue_request("c").error().code, "gate.refused");
  link.flush();
  EXPECT_EQ(wire.sent, "");
  EXPECT_EQ(link.counters().requests, 0U);
  {
    const auto permit = link.permit(run_policy());
    EXPECT_TRUE(link.queue_request("c"));
  }
  EXPECT_EQ(link.queue_request("c").error().code, "gate.refused");
}

TEST_F(FrameLinkTest, TheLastRequestIsKeptOnlyWhereItMayBeRefused) {
  EXPECT_FALSE(link.keeps_request());
  ASSERT_TRUE(link.queue_request("?"));
  EXPECT_TRUE(link.keeps_request());
  link.queue_request_again();
  link.flush();
  EXPECT_EQ(wire.sent, encode("?") + encode("?"));
  EXPECT_EQ(link.counters().requests, 1U);
  link.set_no_ack();
  EXPECT_FALSE(link.keeps_request());
}

TEST_F(FrameLinkTest, KnowsWhatTheOtherSideHasShownItselfToBe) {
  EXPECT_FALSE(link.heard().since);
  hear("SSH-2.0-x\r\n");
  while (link.next())
    ;
  EXPECT_TRUE(link.speaks_another_protocol());
  EXPECT_EQ(link.heard().garbage, "SSH2.0x\r\n") << "a minus is a refusal";
  hear("+" + encode("S05"));
  EXPECT_TRUE(link.has_more());
  while (link.next())
    ;
  EXPECT_FALSE(link.has_more());
  EXPECT_TRUE(link.heard().ack && link.heard().packet && link.heard().since);
  EXPECT_FALSE(link.speaks_another_protocol()) << "a stub that said something else before";
}

TEST_F(FrameLinkTest, ErrorsHaveTheNameAndTheLastPackets) {
  ASSERT_TRUE(link.queue_request("?"));
  hear(encode("S05"));
  ASSERT_TRUE(link.next());
  EXPECT_THAT(link.failure("stub.timeout", "no answer", "").value().message,
              HasSubstr("n1:7001: no answer (last packets: > ?, < S05)"));
}

TEST_F(FrameLinkTest, AStreamThatEndsIsClosed) {
  EXPECT_FALSE(link.closed());
  EXPECT_EQ(link.receive({}).bytes, "reset");
  EXPECT_TRUE(link.closed());
}

} // namespace
} // namespace mqbridge::rsp
