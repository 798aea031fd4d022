// What ends an exchange that the stub does not end: silences, deadlines, cancel.

#include "tests/rsp/exchange/connection_fixture.h"

#include <atomic>
#include <chrono>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <string>
#include <thread>

namespace mqbridge::rsp {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using Clock = Connection::Clock;

class ConnectionLimits : public ConnectionTest {};

TEST_F(ConnectionLimits, TimeoutNamesThePacketTheTimeAndTheLastTenPackets) {
  peer_.play([](WirePeer& peer) {
    for (int i = 0; i < 6; ++i) {
      peer.expect_packet(fmt::format("m{},1", i));
      peer.send_packet(fmt::format("0{}", i));
    }
    peer.expect_packet("m1000,40");
  });
  auto& connection = open_no_ack(100ms);
  for (int i = 0; i < 6; ++i)
    ASSERT_TRUE(connection.request(fmt::format("m{},1", i)));
  const auto begun = Clock::now();
  const auto reply = connection.request("m1000,40");
  EXPECT_LT(Clock::now() - begun, 2s);
  expect_code(reply, "stub.timeout");
  const auto& message = reply.error().message;
  EXPECT_THAT(message, HasSubstr("n1:7001"));
  EXPECT_THAT(message, HasSubstr("no answer to 'm1000,40' within 0.1 s"));
  EXPECT_THAT(message, HasSubstr("(last packets: < 01, > m2,1, < 02, > m3,1, < 03, > m4,1, < 04, "
                                 "> m5,1, < 05, > m1000,40)"));
}

TEST_F(ConnectionLimits, LateReplyDoesNotAnswerTheNextRequest) {
  peer_.play([](WirePeer& peer) {
    peer.expect_packet("m0,1");
    peer.expect_packet("m1,1");
    peer.send_packet("aa");
    peer.send_packet("bb");
  });
  auto& connection = open_no_ack(100ms);
  expect_code(connection.request("m0,1"), "stub.timeout");
  EXPECT_EQ(connection.request("m1,1").value(), "bb");
}

TEST_F(ConnectionLimits, TricklingReplyEnds) {
  std::atomic<bool> given_up = false;
  peer_.play([&](WirePeer& peer) {
    peer.expect_packet("m0,1");
    peer.send("$");
    for (const auto until = Clock::now() + 20s; !given_up && Clock::now() < until;) {
      peer.send("a");
      std::this_thread::sleep_for(10ms);
    }
  });
  auto& connection = open_no_ack(50ms);
  const auto begun = Clock::now();
  expect_code(connection.request("m0,1"), "stub.timeout");
  EXPECT_LT(Clock::now() - begun, 10s);
  given_up = true;
  peer_.finish();
}

TEST_F(ConnectionLimits, EndlessGarbageIsGivenUp) {
  peer_.play([](WirePeer& peer) {
    peer.expect_packet("m0,4");
    peer.send(std::string(200'000, '.'));
  });
  expect_code(open_no_ack().request("m0,4"), "stub.garbage");
}

TEST_F(ConnectionLimits, EndlessAcknowledgementsAreNoAnswer) {
  std::atomic<bool> given_up = false;
  peer_.play([&](WirePeer& peer) {
    peer.expect_packet("m0,4");
    for (const auto until = Clock::now() + 20s; !given_up && Clock::now() < until;) {
      peer.send("++++++++++++++++");
      std::this_thread::sleep_for(1ms);
    }
  });
  auto& connection = open(50ms);
  const auto begun = Clock::now();
  expect_code(connection.request("m0,4"), "stub.timeout");
  EXPECT_LT(Clock::now() - begun, 10s);
  given_up = true;
  peer_.finish();
}

TEST_F(ConnectionLimits, CancelEndsTheExchangeAtOnceAndDetachIsExempt) {
  peer_.play([](WirePeer& peer) {
    peer.expect_packet("m0,1");
    peer.expect_packet("D");
    peer.send_packet("aa"); // still owed, and not the answer to D
    peer.send_packet("OK");
  });
  auto& connection = open_no_ack();
  std::thread canceller([&connection] {
    std::this_thread::sleep_for(50ms);
    connection.cancel();
  });
  const auto begun = Clock::now();
  expect_code(connection.request("m0,1"), "interrupted");
  EXPECT_LT(Clock::now() - begun, 2s);
  canceller.join();
  expect_code(connection.request("m4,1"), "interrupted"); // for good, and not even sent
  {
    const auto exemption = connection.exempt("D", 2s);
    EXPECT_EQ(connection.request("D").value(), "OK");
  }
  expect_code(connection.request("?"), "interrupted");
}

TEST_F(ConnectionLimits, DeadlineEndsTheExchangeAndDetachIsExempt) {
  peer_.play([](WirePeer& peer) {
    peer.expect_packet("m0,1");
    peer.expect_packet("D");
    peer.send_packet("aa");
    peer.send_packet("OK");
  });
  auto& connection = open_no_ack();
  connection.set_deadline(Clock::now() + 80ms);
  expect_code(connection.request("m0,1"), "stop.limit");
  const auto exemption = connection.exempt("D", 2s);
  EXPECT_EQ(connection.request("D").value(), "OK");
}

TEST_F(ConnectionLimits, WhatRunsIsNotAskedWhereItsStubStands) {
  peer_.play([](WirePeer& peer) {
    peer.expect_packet("m0,1");
    peer.expect_packet("vCont;c");
    peer.send("$aa#00$T05#00");
    EXPECT_TRUE(peer.is_quiet_for(250ms));
  });
  auto& connection = open_no_ack(80ms);
  expect_code(connection.request("m0,1"), "stub.timeout"); // late, or lost?
  const auto permit = connection.permit(run_policy());
  expect_code(connection.resume("vCont;c"), "stub.garbage");
  const auto in_step = connection.resynchronise();
  ASSERT_FALSE(in_step);
  EXPECT_EQ(in_step.error().code, "target.running");
  peer_.finish();
}

TEST_F(ConnectionLimits, GettingIntoStepTakesNoLongerThanItMay) {
  std::atomic<bool> enough = false;
  peer_.play([&enough](WirePeer& peer) {
    for (; !enough; std::this_thread::sleep_for(20ms))
      peer.send_packet("E01");
  });
  auto& connection = open_no_ack();
  const auto begun = Clock::now();
  EXPECT_FALSE(connection.resynchronise(300ms));
  EXPECT_LT(Clock::now() - begun, 3s) << "the detach has five seconds in all";
  enough = true;
  peer_.finish();
}

TEST_F(ConnectionLimits, DeadlineSetWhileAnExchangeWaitsCounts) {
  auto& connection = open_no_ack();
  std::thread setter([&connection] {
    std::this_thread::sleep_for(50ms);
    connection.set_deadline(Clock::now());
  });
  const auto begun = Clock::now();
  expect_code(connection.request("m0,1"), "stop.limit");
  EXPECT_LT(Clock::now() - begun, 2s);
  setter.join();
}

TEST_F(ConnectionLimits, DeadlineHoldsAgainstAStubThatNeverStopsTalking) {
  std::atomic<bool> enough = false;
  peer_.play([&enough](WirePeer& peer) {
    peer.expect_packet("m0,1");
    while (!enough)
      peer.send(encode("O41"));
  });
  auto& connection = open_no_ack();
  const auto begun = Clock::now();
  connection.set_deadline(begun + 100ms);
  expect_code(connection.request("m0,1"), "stop.limit");
  EXPECT_LT(Clock::now() - begun, 3s); // and not at the silence, after 5 s, or never
  enough = true;
  connection_.reset(); // the peer may be blocked in a send
  peer_.finish();
}

TEST_F(ConnectionLimits, StubThatTalksBeforeItIsAskedIsEndedByTheLimitsToo) {
  std::atomic<bool> enough = false;
  peer_.play([&enough](WirePeer& peer) {
    while (!enough)
      peer.send(encode("O4141414141414141"));
  });
  auto& connection = open_no_ack(100ms);
  const auto begun = Clock::now();
  expect_code(connection.request("m0,1"), "stub.timeout");
  EXPECT_LT(Clock::now() - begun, 3s);
  enough = true;
  connection_.reset(); // the peer may be blocked in a send
  peer_.finish();
}

TEST_F(ConnectionLimits, ExemptionHasALimitOfItsOwn) {
  auto& connection = open_no_ack();
  const auto begun = Clock::now();
  const auto exemption = connection.exempt("D", 50ms);
  expect_code(connection.request("D"), "stub.timeout");
  EXPECT_LT(Clock::now() - begun, 2s);
}

} // namespace
} // namespace mqbridge::rsp
