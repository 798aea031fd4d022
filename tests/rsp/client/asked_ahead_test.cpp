#include "rsp/client/asked_ahead.h"
#include "rsp/client/client.h"
#include "rsp/client/opening.h"
#include "rsp/commands/attach.h"
#include "rsp/commands/qxfer.h"
#include "rsp/commands/read_memory.h"
#include "tests/support/connected.h"
#include "tests/support/scripted_stub.h"
#include "tests/support/stub_memory.h"

#include <chrono>
#include <cstddef>
#include <gmock/gmock.h>
#include <string>
#include <vector>

namespace mqbridge::rsp {
namespace {

using test::Answer;
using test::connected;
using test::ScriptedStub;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::Optional;

TEST(AskedAhead, AnAnswerIsGoodOnce) {
  AskedAhead ahead;
  ahead.ask("a");
  EXPECT_EQ(ahead.take("a"), std::nullopt) << "not sent yet";
  EXPECT_THAT(ahead.take_due({}), ElementsAre("a"));
  EXPECT_THAT(ahead.take_due({}), IsEmpty()) << "it is under way";
  ahead.answered("a", "1");
  EXPECT_THAT(ahead.take("a"), Optional(std::string("1")));
  EXPECT_EQ(ahead.take("a"), std::nullopt);
}

TEST(AskedAhead, WhatIsPostedHasNoAnswer) {
  AskedAhead ahead;
  ahead.post("close");
  ahead.ask("a");
  EXPECT_THAT(ahead.take_due({}), ElementsAre("close", "a")) << "in order";
  ahead.answered("close", "F0");
  EXPECT_FALSE(ahead.has("close"));
}

TEST(AskedAhead, WhatIsAskedAnyhowLeavesOnce) {
  AskedAhead ahead;
  ahead.ask("a");
  ahead.post("b");
  EXPECT_THAT(ahead.take_due({"a", "b"}), ElementsAre("b")) << "a posted one is always due";
  ahead.answered("a", "1");
  EXPECT_FALSE(ahead.has("a")) << "whoever asked has it";
}

TEST(AskedAhead, AskedTwiceItLeavesOnce) {
  AskedAhead ahead;
  ahead.ask("a");
  ahead.ask("a");
  EXPECT_THAT(ahead.take_due({}), ElementsAre("a"));
}

TEST(AskedAhead, ForgetsAnswersButNotWhatMustReachTheStub) {
  AskedAhead ahead;
  ahead.ask("answered");
  ahead.ask("under way");
  (void)ahead.take_due({});
  ahead.answered("answered", "1");
  ahead.ask("due");
  ahead.post("close");
  ahead.forget();
  ahead.answered("under way", "2");
  EXPECT_FALSE(ahead.has("answered") || ahead.has("under way"));
  EXPECT_THAT(ahead.take_due({}), ElementsAre("close"));
}

TEST(AskedAhead, ANewQuestionMakesTheOldAnswerVoid) {
  AskedAhead ahead;
  ahead.keep("a", "old");
  ahead.ask("a");
  EXPECT_EQ(ahead.take("a"), std::nullopt);
}

/// What makes a stub known as gdbserver, beside what the scripted one announces by itself.
ScriptedStub& as_gdbserver(ScriptedStub& stub) {
  stub.serve_objects({{"auxv:", "vector"}, {"exec-file:", "/bin/x"}, {"libraries-svr4:", "<l/>"}});
  stub.on("?", Answer::packet("T05thread:p1d3e.1d3e;"));
  return stub;
}

TEST(Opening, AProcessIsMetInThreeRoundTrips) {
  ScriptedStub stub;
  const auto client = connected(as_gdbserver(stub));
  ASSERT_TRUE(client);
  const auto attachment = attach(*client);
  ASSERT_TRUE(attachment) << attachment.error().message;
  EXPECT_EQ(attachment->pid, 0x1d3e);
  EXPECT_EQ(read_object(*client, "exec-file", "").value(), "/bin/x");
  EXPECT_EQ(read_object(*client, "auxv", "").value(), "vector");
  EXPECT_EQ(read_object(*client, "libraries-svr4", "").value(), "<l/>");
  EXPECT_EQ(client->counters().round_trips, 3U); // connect, qSupported, everything else
  EXPECT_EQ(stub.count("?"), 1U);
}

TEST(Opening, AnswersCountOnlyWhileTheProcessIsTheSame) {
  ScriptedStub stub;
  as_gdbserver(stub).on("!", Answer::packet("OK")).on("?", Answer::packet("W00"));
  stub.on("vAttach;2a", Answer::packet("T00thread:p2a.2a;"));
  const auto client = connected(stub.endpoint(0x2a));
  ASSERT_TRUE(client);
  EXPECT_THAT(stub.received(), Not(Contains(testing::StartsWith("qXfer:"))))
      << "there is no process yet";
  ASSERT_TRUE(attach(*client));
  EXPECT_EQ(client->counters().round_trips, 4U);
  ask_about_process(*client);
  EXPECT_EQ(read_object(*client, "auxv", "").value(), "vector");
  EXPECT_EQ(read_object(*client, "exec-file", "").value(), "/bin/x");
  EXPECT_EQ(client->counters().round_trips, 5U);
}

TEST(Opening, AnUnknownStubIsAskedWhenItsProcessIsWanted) {
  ScriptedStub stub({.multiprocess = false});
  stub.serve_objects({{"auxv:", "vector"}}).on("?", Answer::packet("S05"));
  stub.on("qC", Answer::packet("QC1d3e"));
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  EXPECT_EQ(stub.count("qXfer:") + stub.count("?"), 0U);
  const auto before = client->counters().round_trips;
  ASSERT_TRUE(attach(*client));
  EXPECT_EQ(read_object(*client, "auxv", "").value(), "vector");
  EXPECT_EQ(client->counters().round_trips - before, 1U);
}

/// Should the connection be lost, whoever releases the process has to name it.
TEST(Opening, WhichProcessIsHeldIsKnownBeforeMuchElseIsAsked) {
  ScriptedStub stub;
  stub.serve_objects({{"auxv:", "vector"}}).on("?", Answer::packet("T05thread:p1d3e.1d3e;"));
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  ASSERT_TRUE(attach(*client));
  EXPECT_EQ(client->detach_packet(), "D;1d3e");
  EXPECT_EQ(stub.count("qXfer:"), 0U);
}

TEST(Opening, AProcessThatWasNamedIsReleasedByItsNameThoughTheBurstBreaksOff) {
  ScriptedStub stub;
  as_gdbserver(stub).on("qXfer:auxv:", Answer::nothing());
  stub.on("D", [](std::string_view packet) {
    return Answer::packet(packet == "D;1d3e" ? "OK" : "E01");
  });
  EXPECT_FALSE(
      Client::connect(stub.endpoint(), {.silence_timeout = std::chrono::milliseconds(200)}));
  EXPECT_EQ(stub.count("D;1d3e"), 1U);
  EXPECT_EQ(stub.count("D"), 1U) << "none without the name";
}

TEST(Opening, WhatAServerHoldsForOthersIsNotOursToRelease) {
  ScriptedStub stub;
  as_gdbserver(stub).on("!", Answer::packet("OK"));
  const auto client = connected(stub.endpoint(0x2a));
  ASSERT_TRUE(client);
  EXPECT_EQ(client->detach_packet(), "D");
}

TEST(Opening, WithAcknowledgementsNothingIsAskedAhead) {
  ScriptedStub stub({.no_ack = false});
  const auto client = connected(as_gdbserver(stub));
  ASSERT_TRUE(client);
  ASSERT_TRUE(attach(*client));
  EXPECT_EQ(stub.count("qXfer:"), 0U);
  EXPECT_EQ(stub.most_outstanding(), 1U);
}

TEST(Opening, AGdbserverThatRefusesWhatItAnnouncesIsNone) {
  ScriptedStub stub;
  as_gdbserver(stub).on("QStartNoAckMode", Answer::packet("E01"));
  const auto client = Client::connect(stub.endpoint(), {});
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, "stub.garbage");
  EXPECT_THAT(client.error().message, testing::HasSubstr("QStartNoAckMode"));
}

TEST(AskingAhead, LeavesWithTheNextExchangeWhateverItIs) {
  ScriptedStub stub;
  stub.on("qC", Answer::packet("QC1")).on("vFile:open:", Answer::packet("F3"));
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  client->ask_ahead("vFile:open:2f78,0,0");
  client->send_along("vFile:close:7");
  const auto before = client->counters().round_trips;
  EXPECT_FALSE(client->answer_ahead("vFile:open:2f78,0,0")) << "nothing was exchanged yet";
  EXPECT_EQ(client->request("qC").value(), "QC1");
  EXPECT_THAT(client->answer_ahead("vFile:open:2f78,0,0"), Optional(std::string("F3")));
  EXPECT_EQ(client->counters().round_trips - before, 1U);
  EXPECT_EQ(stub.count("vFile:close:7"), 1U);
}

TEST(AskingAhead, AnEmptyBurstSendsItAlone) {
  ScriptedStub stub;
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  const auto before = client->counters().round_trips;
  EXPECT_TRUE(client->burst({}));
  EXPECT_EQ(client->counters().round_trips, before);
  client->ask_ahead("qC");
  EXPECT_TRUE(client->burst({}));
  EXPECT_TRUE(client->answered_ahead("qC"));
  EXPECT_EQ(client->counters().round_trips, before + 1);
}

TEST(AskingAhead, WhatIsToBeSentAlongLeavesWithTheDetachAtTheLatest) {
  ScriptedStub stub;
  stub.on("?", Answer::packet("T05thread:p1d3e.1d3e;"));
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  ASSERT_TRUE(attach(*client));
  client->send_along("vFile:close:3");
  client->ask_ahead("qC");
  const auto before = client->counters().round_trips;
  ASSERT_TRUE(detach(*client));
  EXPECT_EQ(client->counters().round_trips - before, 1U);
  const auto asked = stub.asked();
  EXPECT_THAT((std::vector<std::string>(asked.end() - 2, asked.end())),
              ElementsAre("vFile:close:3", "D;1d3e"));
  EXPECT_EQ(stub.count("qC"), 0U) << "nobody is there to take the answer";
}

/// The window of a burst closes with the deadline; the detach is exempt from that, too.
TEST(AskingAhead, AfterTheDeadlineTheDetachStillLeavesInOneBurst) {
  ScriptedStub stub;
  test::StubMemory memory;
  constexpr std::size_t measured = std::size_t{64} << 10;
  memory.put(0x10000, test::pattern(0, measured));
  memory.serve(stub, test::AtHole::refuse, test::BinaryForm::none, 0x4000);
  stub.on("?", Answer::packet("T05thread:p1d3e.1d3e;")).on("D;1d3e", Answer::packet("OK"));
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  ASSERT_TRUE(attach(*client));
  std::vector<std::byte> into(measured);
  ReadRequest request{0x10000, into};
  ASSERT_TRUE(read_memory(*client, {&request, 1})); // the speed of the link is known now
  client->send_along("vFile:close:3");
  client->set_deadline(std::chrono::steady_clock::now());
  const auto before = client->counters().round_trips;
  ASSERT_TRUE(detach(*client));
  EXPECT_EQ(client->counters().round_trips - before, 1U);
}

} // namespace
} // namespace mqbridge::rsp
