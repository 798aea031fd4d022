#include "rsp/guardian/hold_gate.h"
#include "tests/rsp/guardian/guardian_fixture.h"

#include <array>
#include <chrono>
#include <csignal>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>

namespace mqbridge::rsp {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using test::Answer;
using test::ScriptedStub;
using testing::Contains;
using testing::ElementsAre;
using testing::Not;

/// How long a stub may be silent: whoever says something is not waited for so long.
constexpr auto patience = 3s;

/// A connection to a stub in a guardian's care.
class Guarded {
public:
  /// `packet`: of the process, which has become known.
  explicit Guarded(const ScriptedStub& stub, const char* packet = nullptr)
      : client(stub), guardian_(started()) {
    if (!guardian_)
      return;
    const auto handle = guardian_->watch(client.descriptor());
    EXPECT_TRUE(handle);
    if (handle && packet != nullptr)
      name_process(*guardian_, *handle, packet);
  }
  void release() { mqbridge::rsp::release(std::move(guardian_)); }

  const RawClient client;

private:
  std::unique_ptr<Guardian> guardian_;
};

TEST(Guardian, SendsTheDetachPacketOfWhatIsLeft) {
  ScriptedStub stub;
  Guarded guarded(stub, "D;1f");
  EXPECT_THAT(stub.received(), ElementsAre());
  const auto before = steady_clock::now();
  guarded.release();
  EXPECT_LT(steady_clock::now() - before, patience);
  EXPECT_THAT(stub.received(), ElementsAre("D;1f"));
}

TEST(Guardian, LeavesAloneWhatIsForgotten) {
  ScriptedStub stub;
  auto client = std::make_optional<RawClient>(stub);
  auto guardian = started();
  ASSERT_TRUE(guardian);
  const auto handle = guardian->watch(client->descriptor());
  ASSERT_TRUE(handle);
  guardian->forget(*handle);
  client.reset();
  // The stub serves one client after the other: the next is served only if nobody holds the first.
  const RawClient next(stub);
  next.send("$?#3f");
  EXPECT_TRUE(test::eventually(10s, [&] { return stub.count("?") == 1; }));
  release(std::move(guardian));
  EXPECT_EQ(stub.count("D"), 0);
}

/// By which Ctrl-Z knows when nothing is held any more.
TEST(Guardian, CountsTheConnectionsThatHoldATarget) {
  HoldGate holds;
  const auto held = [&holds] { return !holds.await_none(0ms); };
  auto guardian = Guardian::start(test::guardian_program(), &holds);
  ASSERT_TRUE(guardian) << guardian.error().message;
  EXPECT_FALSE(held());
  const RawClient first;
  const RawClient second;
  const auto one = (*guardian)->watch(first.descriptor());
  const auto other = (*guardian)->watch(second.descriptor());
  ASSERT_TRUE(one && other);
  EXPECT_TRUE(held());
  (*guardian)->forget(*other);
  (*guardian)->forget(*other); // once is enough
  EXPECT_TRUE(held());
  (*guardian)->set_manner(*one, guardian::Manner::wait);
  EXPECT_FALSE(held()) << "it runs";
  (*guardian)->set_manner(*one, guardian::Manner::detach);
  EXPECT_TRUE(held()) << "it has stopped";
  (*guardian)->set_manner(*one, guardian::Manner::wait);
  (*guardian)->forget(*one);
  EXPECT_FALSE(held());
  EXPECT_FALSE((*guardian)->watch(-1));
  EXPECT_FALSE(held()) << "it was never watched";
}

TEST(Guardian, ManyConnectionsEachWithItsPacket) {
  std::array<ScriptedStub, 5> stubs;
  std::vector<std::unique_ptr<RawClient>> clients;
  auto guardian = started();
  ASSERT_TRUE(guardian);
  for (std::size_t i = 0; i < stubs.size(); ++i) {
    clients.push_back(std::make_unique<RawClient>(stubs[i]));
    const auto handle = guardian->watch(clients.back()->descriptor());
    ASSERT_TRUE(handle);
    name_process(*guardian, *handle, fmt::format("D;{:x}", i + 1).c_str());
    if (i == 2)
      guardian->forget(*handle);
  }
  release(std::move(guardian));
  for (std::size_t i = 0; i < stubs.size(); ++i)
    EXPECT_EQ(stubs[i].count(fmt::format("D;{:x}", i + 1)), i == 2 ? 0 : 1) << i;
}

struct Interrupted {
  std::string name;
  std::string sent; ///< by the client, when it died
  bool no_ack;
};

/// A packet that was cut anywhere must not swallow the detach packet.
TEST(Guardian, EndsHalfPackets) {
  for (const auto& [name, sent, no_ack] : {
           Interrupted{"nothing sent", "", false},
           Interrupted{"only the dollar", "$", false},
           Interrupted{"in the payload", "$m1000,", false},
           Interrupted{"before the checksum", "$m1000,40#", false},
           Interrupted{"in the checksum", "$m1000,40#8", false},
           Interrupted{"reply not acknowledged", "$m1000,40#8e", false},
           Interrupted{"without acks, in the payload", "$QStartNoAckMode#b0$m1000,4", true},
           Interrupted{"without acks, in the checksum", "$QStartNoAckMode#b0$m1000,40#8", true},
           Interrupted{"without acks, whole", "$QStartNoAckMode#b0$m1000,40#8e", true},
       }) {
    ScriptedStub stub({.no_ack = no_ack});
    stub.on("m", Answer::packet("E01"));
    Guarded guarded(stub, "D;1f");
    guarded.client.send(sent);
    guarded.release();
    EXPECT_THAT(stub.received(), Contains("D;1f")) << name;
  }
}

TEST(Guardian, AsksWhichProcessWhenItWasNeverTold) {
  ScriptedStub stub;
  // 0x10000, as gdbserver writes it.
  stub.on("?", Answer::raw("$T05thread:p10* .10* ;core:0;#e8"));
  stub.expect("D", Answer::packet("E01"));
  Guarded guarded(stub);
  guarded.release();
  EXPECT_THAT(stub.received(), ElementsAre("D", "?", "D;10000"));
}

TEST(Guardian, WaitsForTheNameOfTheProcess) {
  ScriptedStub stub;
  stub.on("?", Answer::packet("T05thread:p1f.1f;").after(600ms)); // longer than it takes silence
  stub.on("D",
          [](std::string_view packet) { return Answer::packet(packet == "D;1f" ? "OK" : "E01"); });
  Guarded guarded(stub);
  guarded.release();
  EXPECT_THAT(stub.received(), Contains("D;1f"));
}

TEST(Guardian, TakesNoAnswerFromGarbage) {
  ScriptedStub stub;
  stub.expect("D;1f", Answer::raw("$OK#00"));
  Guarded guarded(stub, "D;1f");
  guarded.release();
  EXPECT_THAT(stub.received(), ElementsAre("D;1f", "D;1f")) << "that OK has the wrong checksum";
}

TEST(Guardian, TriesAgainOnceARunningTargetHasStopped) {
  ScriptedStub stub;
  // What is sent while the target runs is lost; then the interrupt that was on its way shows.
  stub.expect("D", Answer::packet("T02thread:p1f.1f;").after(100ms));
  Guarded guarded(stub);
  guarded.release();
  EXPECT_THAT(stub.received(), ElementsAre("D", "D;1f"));
}

TEST(Guardian, TriesAgainWhenNothingComes) {
  ScriptedStub stub;
  stub.expect("D;1f", Answer::nothing());
  Guarded guarded(stub, "D;1f");
  guarded.release();
  EXPECT_THAT(stub.received(), ElementsAre("D;1f", "D;1f"));
}

TEST(Guardian, DrainsWhatAStubBlocksOn) {
  ScriptedStub stub;
  const std::string long_reply(60'000, 'a');
  stub.on("m", Answer::packet(long_reply));
  Guarded guarded(stub, "D;1f");
  guarded.client.send("$QStartNoAckMode#b0");
  for (int i = 0; i < 1000; ++i)
    guarded.client.send(test::frame("m1000,7530"));
  guarded.release();
  EXPECT_EQ(stub.count("m1000"), 1000);
  EXPECT_GE(stub.count("D;1f"), 1) << "again after each pause of a busy machine";
}

TEST(Guardian, ASocketThatNeverConnectedEndsAtOnce) {
  const RawClient client;
  auto guardian = started();
  ASSERT_TRUE(guardian);
  ASSERT_TRUE(guardian->watch(client.descriptor()));
  const auto before = steady_clock::now();
  release(std::move(guardian));
  EXPECT_LT(steady_clock::now() - before, patience);
}

TEST(Guardian, StandsApartFromItsStarter) {
  // Something that a shell might have left open for us.
  std::array<int, 2> inherited{};
  ASSERT_EQ(pipe(inherited.data()), 0);
  const auto guardian = started();
  ASSERT_TRUE(guardian);
  const pid_t pid = await_guardian();
  ASSERT_GT(pid, 0);
  EXPECT_EQ(getsid(pid), pid);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
    EXPECT_EQ(kill(pid, signal), 0);
  const RawClient client;
  EXPECT_TRUE(guardian->watch(client.descriptor()));
  // At times it looks at this process for a moment, by a file in /proc: what it keeps is meant.
  std::map<int, std::string> foreign;
  const auto keeps_only_its_own = [&] {
    foreign = test::descriptors_of(pid);
    const bool looked = !foreign.empty();
    std::erase_if(foreign, [](const auto& open) {
      return open.first < 3 ? open.second == "/dev/null" : open.second.starts_with("socket:");
    });
    return looked && foreign.empty();
  };
  EXPECT_TRUE(test::eventually(10s, keeps_only_its_own)) << testing::PrintToString(foreign);
  close(inherited[0]);
  close(inherited[1]);
}

TEST(Guardian, AnotherProgramIsRefused) {
  for (const std::string program : {"/no/such/program", "/bin/true", "/dev/null"}) {
    const auto guardian = Guardian::start(program);
    ASSERT_FALSE(guardian) << program;
    EXPECT_EQ(guardian.error().code, "guardian.start");
    EXPECT_THAT(guardian.error().message, testing::HasSubstr(program));
    EXPECT_NE(guardian.error().hint, "");
  }
}

} // namespace
} // namespace mqbridge::rsp
