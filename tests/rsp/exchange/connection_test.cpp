#include "tests/rsp/exchange/connection_fixture.h"

#include <chrono>
#include <gmock/gmock.h>
#include <string>
#include <vector>

namespace mqbridge::rsp {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST_F(ConnectionTest, AStopThatNobodyAskedForIsNotTheFirstAnswer) {
  peer_.play([](WirePeer& peer) { // as qemu-system does when a client comes to a running machine
    peer.expect("+$qC#b4");
    peer.send_packet("T02thread:p01.01;");
    peer.send("+");
    peer.send_packet("QC1");
    peer.expect("++$?#3f");
    peer.send("+");
    peer.send_packet("T05thread:p01.01;");
    peer.expect("+");
  });
  auto& connection = open();
  connection.greet();
  EXPECT_EQ(connection.request("qC").value(), "QC1");
  EXPECT_EQ(connection.request("?").value(), "T05thread:p01.01;");
  peer_.finish();
}

TEST_F(ConnectionTest, AckModeAcknowledgesEveryReply) {
  peer_.play([](WirePeer& peer) {
    peer.expect("+$?#3f");
    peer.send("+$S05#b8");
    peer.expect("+$qC#b4");
    peer.send("+");
    peer.send_packet("QC1");
    peer.expect("+");
  });
  auto& connection = open();
  connection.greet();
  EXPECT_EQ(connection.request("?").value(), "S05");
  EXPECT_EQ(connection.request("qC").value(), "QC1");
  peer_.finish();
  EXPECT_TRUE(connection.heard().ack);
  EXPECT_EQ(connection.counters().requests, 2U);
  EXPECT_EQ(connection.counters().round_trips, 3U); // with the connect
  EXPECT_EQ(connection.counters().bytes_sent, 14U);
  EXPECT_EQ(connection.counters().bytes_received, 16U);
}

TEST_F(ConnectionTest, NoAckModeSendsNoAcks) {
  peer_.play([](WirePeer& peer) {
    peer.expect_packet("?");
    peer.send_packet("S05");
    EXPECT_TRUE(peer.is_quiet_for(30ms));
  });
  EXPECT_EQ(open_no_ack().request("?").value(), "S05");
  peer_.finish();
}

TEST_F(ConnectionTest, DamagedReplyIsAskedForAgainInAckMode) {
  peer_.play([](WirePeer& peer) {
    peer.expect_packet("?");
    peer.send("+$S05#00");
    peer.expect("-");
    peer.send("$S05#b8");
    peer.expect("+");
  });
  EXPECT_EQ(open().request("?").value(), "S05");
}

TEST_F(ConnectionTest, ReplyThatIsDamagedForEverIsGivenUp) {
  peer_.play([](WirePeer& peer) {
    peer.expect_packet("?");
    for (int i = 0; i < 3; ++i) {
      peer.send("$S05#00");
      peer.expect("-");
    }
    peer.send("$S05#00");
  });
  expect_code(open().request("?"), "stub.garbage");
}

TEST_F(ConnectionTest, DamagedReplyIsAnErrorInNoAckModeAndTheNextOneIsNot) {
  peer_.play([](WirePeer& peer) {
    peer.expect_packet("m0,4");
    peer.send("$00000000#00");
    peer.expect_packet("m4,4");
    peer.send_packet("01020304");
  });
  auto& connection = open_no_ack();
  expect_code(connection.request("m0,4"), "stub.garbage");
  EXPECT_EQ(connection.request("m4,4").value(), "01020304");
}

TEST_F(ConnectionTest, RefusedRequestIsSentAgainButNotForEver) {
  peer_.play([](WirePeer& peer) {
    peer.expect_packet("?");
    peer.send("-");
    peer.expect_packet("?");
    peer.send("+$S05#b8");
    peer.expect("+");
    peer.expect_packet("qC");
    peer.send("----");
  });
  auto& connection = open();
  EXPECT_EQ(connection.request("?").value(), "S05");
  expect_code(connection.request("qC"), "stub.garbage");
}

TEST_F(ConnectionTest, ConsoleOutputAndNotificationsAreSkippedAnywhere) {
  peer_.play([](WirePeer& peer) {
    peer.expect_packet("m0,2");
    peer.send("%Stop:T05#99" + encode("O48656c6c6f0a") + encode("O00"));
    peer.send_packet("abcd");
    peer.expect_packet("QStartNoAckMode"); // its reply begins with an O too
    peer.send_packet("OK");
    peer.expect_packet("x0,3"); // and so may bare memory
    peer.send_packet("O12");
  });
  auto& connection = open_no_ack();
  EXPECT_EQ(connection.request("m0,2").value(), "abcd");
  EXPECT_EQ(connection.request("QStartNoAckMode").value(), "OK");
  EXPECT_EQ(connection.request("x0,3").value(), "O12");
}

TEST_F(ConnectionTest, DuplicateOfAReplyDoesNotAnswerTheNextRequest) {
  peer_.play([](WirePeer& peer) {
    peer.expect_packet("m0,1");
    peer.send(encode("aa") + encode("aa") + encode("aa"));
    peer.expect_packet("m1,1");
    peer.send_packet("bb");
  });
  auto& connection = open_no_ack();
  EXPECT_EQ(connection.request("m0,1").value(), "aa");
  EXPECT_EQ(connection.request("m1,1").value(), "bb");
}

TEST_F(ConnectionTest, ClosedInTheMiddleOfAReply) {
  peer_.play([](WirePeer& peer) {
    peer.expect_packet("m0,4");
    peer.send("$0011");
    peer.close();
  });
  auto& connection = open_no_ack();
  const auto reply = connection.request("m0,4");
  expect_code(reply, "stub.closed");
  EXPECT_THAT(reply.error().message, HasSubstr("'m0,4'"));
  EXPECT_TRUE(connection.closed());
  expect_code(connection.request("m4,4"), "stub.closed");
}

TEST_F(ConnectionTest, ReplyBeforeTheEndStillCounts) {
  peer_.play([](WirePeer& peer) {
    peer.expect_packet("D");
    peer.send_packet("OK");
    peer.close();
  });
  EXPECT_EQ(open_no_ack().request("D").value(), "OK");
}

TEST_F(ConnectionTest, OverLongReplyIsRefusedAndTheNextOneIsNot) {
  peer_.play([](WirePeer& peer) {
    peer.expect_packet("m0,4");
    peer.send_packet(std::string(Decoder::default_limit + 1, 'a'));
    peer.expect_packet("m4,4");
    peer.send_packet("bb");
  });
  auto& connection = open_no_ack();
  expect_code(connection.request("m0,4"), "stub.too_long");
  EXPECT_EQ(connection.request("m4,4").value(), "bb");
}

TEST_F(ConnectionTest, RefusedByTheGateSendsNothingAndCostsNothing) {
  auto& connection = open_no_ack();
  expect_code(connection.request("M0,1:00"), "gate.refused");
  const auto burst = connection.burst(std::vector<std::string>{"k", "m0,1"});
  ASSERT_FALSE(burst);
  EXPECT_EQ(burst.error().code, "gate.refused");
  EXPECT_TRUE(peer_.is_quiet_for(30ms));
  EXPECT_EQ(connection.counters().requests, 0U);
  EXPECT_EQ(connection.counters().bytes_sent, 0U);
}

} // namespace
} // namespace mqbridge::rsp
