// --run-until against scripted stubs: what is sent, and above all what is not.

#include "rsp/commands/run_until.h"
#include "rsp/exchange/connection.h"
#include "rsp/packet/signal_names.h"
#include "tests/support/connected.h"
#include "tests/support/scripted_stub.h"

#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace mqbridge::rsp {
namespace {

using namespace std::chrono_literals;
using test::Answer;
using test::connected;
using test::ScriptedStub;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr int usr1 = 30;
constexpr int usr2 = 31;

test::StubFeatures features() {
  test::StubFeatures features;
  features.may_run = true;
  return features;
}

/// Stands at the entry of process 1d3e.
class Run : public testing::Test {
protected:
  Run() { stub_.on("?", Answer::packet("T05thread:p1d3e.1d3e;")); }

  void has_vcont() { stub_.on("vCont?", Answer::packet("vCont;c;C;s;S")); }

  Result<RunReport> run(std::optional<int> signal) {
    client_ = connected(stub_);
    if (!client_)
      return fail("test", "no client");
    auto attached = attach(*client_);
    if (!attached)
      return forward(std::move(attached));
    attachment_ = *attached;
    return run_until(*client_, {signal}, attachment_);
  }

  ScriptedStub stub_{features()};
  std::unique_ptr<Client> client_;
  Attachment attachment_;
};

TEST_F(Run, PassesOnWhatIsNotWanted) {
  has_vcont();
  stub_.expect("vCont;c:p1d3e.-1", Answer::packet("T1fthread:p1d3e.1d40;"))
      .expect("vCont;C1f:p1d3e.1d40;c:p1d3e.-1", Answer::packet("T14thread:p1d3e.1d3e;"))
      .expect("vCont;C14:p1d3e.1d3e;c:p1d3e.-1", Answer::packet("T1fthread:p1d3e.1d3e;"))
      .expect("vCont;C1f:p1d3e.1d3e;c:p1d3e.-1", Answer::packet("T1ethread:p1d3e.1d41;"));
  const auto report = run(usr1);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->signal, usr1);
  EXPECT_THAT(report->passed, ElementsAre(Pair(0x14, 1), Pair(usr2, 2)));
  EXPECT_EQ(attachment_.stop.tid, 0x1d41);
  EXPECT_FALSE(attachment_.stopped_before_us);
  ASSERT_TRUE(detach(*client_));
  EXPECT_EQ(stub_.received().back(), "D;1d3e");
}

/// A process of a server is selected for each exchange; the thread that was may have ended.
TEST_F(Run, OfAServersProcessTheThreadThatStoppedIsSelected) {
  has_vcont();
  stub_.on("!", Answer::packet("OK")).on("?", Answer::packet("W00"));
  stub_.on("vAttach;1d3e", Answer::packet("T00thread:p1d3e.1d3e;"));
  stub_.on("Hgp1d3e.1d40", Answer::packet("OK")).on("Hg", Answer::packet("E01"));
  stub_.on("m", Answer::packet("07"));
  stub_.expect("vCont;c:p1d3e.-1", Answer::packet("T1ethread:p1d3e.1d40;"));
  client_ = connected(stub_.endpoint(0x1d3e));
  ASSERT_TRUE(client_);
  auto attached = attach(*client_);
  ASSERT_TRUE(attached) << attached.error().message;
  const auto report = run_until(*client_, {usr1}, *attached);
  ASSERT_TRUE(report) << report.error().message;
  const auto memory = client_->request("m0,1");
  ASSERT_TRUE(memory) << memory.error().message;
  EXPECT_EQ(*memory, "07");
  EXPECT_EQ(stub_.count("Hgp1d3e.1d40"), 1);
}

TEST_F(Run, ASignalOfNoThreadIsPassedOnByOneAction) {
  has_vcont();
  stub_.expect("vCont;c:p1d3e.-1", Answer::packet("S1f"))
      .expect("vCont;C1f:p1d3e.-1", Answer::packet("S1e"));
  const auto report = run(usr1);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(report->passed, ElementsAre(Pair(usr2, 1)));
}

TEST_F(Run, TheStubsOwnTrapIsNotPassedOn) {
  has_vcont();
  stub_.expect("vCont;c:p1d3e.-1", Answer::packet("T05thread:p1d3e.1d3e;"))
      .expect("vCont;c:p1d3e.-1", Answer::packet("T1ethread:p1d3e.1d3e;"));
  const auto report = run(usr1);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(report->passed, ElementsAre());
}

TEST_F(Run, ATrapThatNeverEndsIsAnError) {
  has_vcont();
  stub_.on("vCont;c:p1d3e.-1", Answer::packet("T05thread:p1d3e.1d3e;"));
  const auto report = run(usr1);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, "run.traps");
  EXPECT_EQ(stub_.count("vCont;c:p1d3e.-1"), 1000);
  EXPECT_TRUE(detach(*client_));
  EXPECT_EQ(stub_.received().back(), "D;1d3e");
}

TEST_F(Run, WithoutVContBySingleLetters) {
  stub_.expect("c", Answer::packet("S1f")).expect("C1f", Answer::packet("S1e"));
  const auto report = run(usr1);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(report->passed, ElementsAre(Pair(usr2, 1)));
}

/// The policy of running would refuse it.
TEST_F(Run, WhatIsToBeSentAlongLeavesBeforeTheTargetRuns) {
  has_vcont();
  stub_.on("vFile:close:", Answer::packet("F0"));
  stub_.on("vCont;c:p1d3e.-1", Answer::packet("T1ethread:p1d3e.1d3e;"));
  client_ = connected(stub_);
  ASSERT_TRUE(client_);
  auto attached = attach(*client_);
  ASSERT_TRUE(attached) << attached.error().message;
  client_->send_along("vFile:close:5");
  const auto report = run_until(*client_, {usr1}, *attached);
  ASSERT_TRUE(report) << report.error().message;
  const auto asked = stub_.asked();
  EXPECT_THAT((std::vector<std::string>(asked.end() - 3, asked.end())),
              ElementsAre("vFile:close:5", "vCont?", "vCont;c:p1d3e.-1"));
}

TEST_F(Run, LastsLongerThanAnySilence) {
  has_vcont();
  stub_.expect("vCont;c:p1d3e.-1", Answer::packet("T1ethread:p1d3e.1d3e;").after(800ms));
  const auto report = run(std::nullopt); // the client's limit is 500 ms
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_GE(report->ran, 700ms);
}

TEST_F(Run, ConsoleOutputIsSkippedAndFilesAreRefused) {
  has_vcont();
  stub_.expect("vCont;c:p1d3e.-1",
               Answer::raw(test::frame("O68690a") + test::frame("Fopen,1000/5,0,1b6")));
  stub_.expect("F-1,1", Answer::packet("T1ethread:p1d3e.1d3e;"));
  const auto report = run(std::nullopt);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->signal, usr1);
}

struct End {
  std::string reply;
  std::string code;
  std::string words;
};

TEST_F(Run, EndsAndRefusalsAreErrors) {
  for (const auto& [reply, code, words] : {
           End{"W7;process:1d3e", "run.exited", "with exit status 7"},
           End{"W00", "run.exited", "with exit status 0"},
           End{"X0b;process:1d3e", "run.exited", "by SIGSEGV"},
           End{"E01", "run.unsupported", "E01"},
           End{"", "run.unsupported", "vCont;c:p1d3e.-1"},
           End{"N", "run.unsupported", "N"},
           End{"Tzz", "stub.garbage", "Tzz"},
       }) {
    ScriptedStub stub(features());
    stub.on("?", Answer::packet("T05thread:p1d3e.1d3e;"))
        .on("vCont?", Answer::packet("vCont;c;C"))
        .on("vCont;", Answer::packet(reply));
    const auto client = connected(stub);
    ASSERT_TRUE(client);
    auto attached = attach(*client);
    ASSERT_TRUE(attached);
    const auto report = run_until(*client, {}, *attached);
    ASSERT_FALSE(report) << reply;
    EXPECT_EQ(report.error().code, code) << reply;
    EXPECT_THAT(report.error().message, HasSubstr(words));
    EXPECT_NE(report.error().hint, "");
  }
}

TEST_F(Run, CancelledItSaysNothingMoreToARunningTarget) {
  has_vcont();
  stub_.expect("vCont;c:p1d3e.-1", Answer::nothing());
  std::jthread user([this] {
    while (stub_.count("vCont;c") == 0)
      std::this_thread::sleep_for(5ms);
    client_->cancel();
  });
  const auto report = run(usr1);
  user.join();
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, "interrupted");
  EXPECT_FALSE(client_->request("qC"));
  EXPECT_TRUE(detach(*client_)) << "there is nothing that we hold";
  client_.reset();
  EXPECT_EQ(stub_.received().back(), "vCont;c:p1d3e.-1");
}

TEST(RunPolicy, LetsRunAndNothingElse) {
  const Gate gate(run_policy());
  for (const std::string packet :
       {"vCont?", "vCont;c", "vCont;c:p1d3e.-1", "vCont;C1e:p1d3e.1d40;c:p1d3e.-1",
        "vCont;C1e:2a;c", "vCont;C1e", "vCont;C1e:p1d3e.-1", "vCont;c:-1", "c", "C1e", "F-1,1"})
    EXPECT_TRUE(gate.packet(packet)) << packet;
  for (const std::string packet : {"vCont;s",
                                   "vCont;S05",
                                   "vCont;t",
                                   "vCont;r1,2",
                                   "vCont;c;s:p1.1",
                                   "vCont;",
                                   "vCont;c;",
                                   "vCont;C1",
                                   "vCont;C1ef",
                                   "vCont;Cxx",
                                   "vCont;c:",
                                   "vCont;c:p1.1.1x",
                                   "c1000",
                                   "C1e;1000",
                                   "C",
                                   "s",
                                   "S05",
                                   "k",
                                   "vKill;1",
                                   "R00",
                                   "D",
                                   "m0,1",
                                   "?",
                                   "F0",
                                   "F-1,1,C",
                                   "vContX",
                                   "vCont;c:2a",
                                   "vCont;c:p1.2a",
                                   "vCont;C1e:2a",
                                   "vCont;c;C1e:p1.2a"}) {
    const auto refused = gate.packet(packet);
    ASSERT_FALSE(refused) << packet;
    EXPECT_EQ(refused.error().code, "gate.refused");
  }
}

TEST(RunPolicy, IsInEffectDuringTheRunOnly) {
  ScriptedStub stub(features());
  const auto client = connected(stub);
  ASSERT_TRUE(client);
  {
    const auto permit = client->connection().permit(run_policy());
    EXPECT_EQ(client->request("m0,1").error().code, "gate.refused");
    EXPECT_TRUE(client->request("vCont?"));
  }
  EXPECT_EQ(client->request("vCont?").error().code, "gate.refused");
  EXPECT_EQ(client->request("vCont;c").error().code, "gate.refused");
}

TEST(SignalNames, AreTheProtocols) {
  for (const auto& [text, number] :
       std::initializer_list<std::pair<std::string, int>>{{"SIGUSR1", 30},
                                                          {"USR1", 30},
                                                          {"30", 30},
                                                          {"HUP", 1},
                                                          {"SIGBUS", 10},
                                                          {"CHLD", 20},
                                                          {"SIGPRIO", 44},
                                                          {"SIG33", 45},
                                                          {"SIG34", 46},
                                                          {"SIG63", 75},
                                                          {"SIGCANCEL", 76},
                                                          {"SIG32", 77},
                                                          {"SIG64", 78},
                                                          {"SIG127", 141}}) {
    EXPECT_EQ(parse_signal(text), number) << text;
    EXPECT_EQ(parse_signal(signal_name(number)), number) << text;
  }
  for (const std::string text :
       {"", "SIG", "0", "-1", "154", "SIG0", "SIG128", "usr1", "NONE", "30x"})
    EXPECT_FALSE(parse_signal(text)) << text;
  EXPECT_EQ(signal_name(150), "signal 150");
}

} // namespace
} // namespace mqbridge::rsp
