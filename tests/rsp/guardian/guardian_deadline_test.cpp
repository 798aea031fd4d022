// A client that is late: its guardian lets the target run, and of the two only one says so.

#include "rsp/client/client.h"
#include "rsp/commands/attach.h"
#include "tests/rsp/guardian/guardian_fixture.h"
#include "tests/support/faults_tried.h"

#include <atomic>
#include <barrier>
#include <chrono>
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

namespace mqbridge::rsp {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using test::ScriptedStub;
using testing::ElementsAre;

/// A connection to a stub, in the care of a guardian that may have others.
struct LateGuarded {
  LateGuarded(Guardian& guardian, const char* packet)
      : client(stub), handle(guardian.watch(client.descriptor()).value_or(0)) {
    name_process(guardian, handle, packet);
  }
  ScriptedStub stub;
  RawClient client;
  std::uint32_t handle;
};

TEST(GuardianDeadline, TheTargetOfALateClientRuns) {
  test::faults_tried(1);
  auto guardian = started();
  ASSERT_TRUE(guardian);
  const LateGuarded late(*guardian, "D;1f");
  const LateGuarded other(*guardian, "D;2f");
  const auto deadline = steady_clock::now() + 100ms;
  guardian->set_deadline(late.handle, deadline);
  EXPECT_FALSE(guardian->taken_over(late.handle));
  ASSERT_TRUE(test::eventually(10s, [&] { return late.stub.count("D;1f") == 1; }));
  const auto taken = guardian->taken_over(late.handle);
  ASSERT_TRUE(taken);
  EXPECT_GE(*taken, deadline);
  EXPECT_LE(*taken, steady_clock::now());
  EXPECT_FALSE(guardian->taken_over(other.handle));
  EXPECT_THAT(other.stub.received(), ElementsAre());
}

TEST(GuardianDeadline, OneThatLetsGoByItselfIsLeftAlone) {
  auto guardian = started();
  ASSERT_TRUE(guardian);
  const LateGuarded held(*guardian, "D;1f");
  guardian->set_deadline(held.handle, steady_clock::now() + 100ms);
  guardian->keep(held.handle);
  std::this_thread::sleep_for(300ms);
  EXPECT_FALSE(guardian->taken_over(held.handle));
  EXPECT_THAT(held.stub.received(), ElementsAre());
  // The next process behind the same server.
  name_process(*guardian, held.handle, "D;2f");
  guardian->drop_detach_packet(held.handle, "D;1f");
  guardian->set_deadline(held.handle, steady_clock::now() + 100ms);
  EXPECT_TRUE(test::eventually(10s, [&] { return held.stub.count("D;2f") == 1; }));
  EXPECT_THAT(held.stub.received(), ElementsAre("D;2f"));
}

TEST(GuardianDeadline, OneThatIsCalledOffDoesNotCount) {
  auto guardian = started();
  ASSERT_TRUE(guardian);
  const LateGuarded held(*guardian, "D;1f");
  guardian->set_deadline(held.handle, steady_clock::now() + 100ms);
  guardian->set_deadline(held.handle, std::nullopt); // it is to run to a signal
  std::this_thread::sleep_for(300ms);
  EXPECT_FALSE(guardian->taken_over(held.handle));
  EXPECT_THAT(held.stub.received(), ElementsAre());
}

TEST(GuardianDeadline, TheNextGuardianKnowsIt) {
  test::faults_tried(1);
  auto guardian = started();
  ASSERT_TRUE(guardian);
  const LateGuarded held(*guardian, "D;1f");
  guardian->set_deadline(held.handle, steady_clock::now() + 500ms);
  const pid_t first = await_guardian();
  kill(first, SIGKILL);
  EXPECT_TRUE(test::eventually(10s, [&] { return held.stub.count("D;1f") == 1; }));
  EXPECT_NE(guardian_pid(), first);
  EXPECT_TRUE(guardian->taken_over(held.handle));
}

/// Others may have minutes of work left.
TEST(GuardianDeadline, WhatItsClientCouldNotReleaseDoesNotWaitForTheEndOfAll) {
  test::faults_tried(1);
  auto guardian = started();
  ASSERT_TRUE(guardian);
  ScriptedStub stub;
  stub.on("?", test::Answer::packet("T05thread:p1d3e.1d3e;"));
  std::atomic<int> farewells = 0;
  stub.on("D", [&farewells](std::string_view) {
    return ++farewells == 1 ? test::Answer::nothing() : test::Answer::packet("OK");
  });
  {
    ClientOptions options;
    options.silence_timeout = 200ms;
    options.guardian = guardian.get();
    auto client = Client::connect(stub.endpoint(), options);
    ASSERT_TRUE(client);
    ASSERT_TRUE(attach(**client));
    stub.on("vMustReplyEmpty", test::Answer::nothing()); // nor does it say whether it has let go
    EXPECT_FALSE(detach(**client));
  }
  EXPECT_TRUE(test::eventually(10s, [&] { return farewells >= 2; }));
}

/// As they come: both in the same moment, again and again.
TEST(Takeovers, OneOfTwoReleasesATarget) {
  const auto shared = std::make_unique<guardian::Takeovers>();
  constexpr std::uint32_t rounds = 2'000;
  std::barrier both(2);
  std::vector<char> taken(rounds + 1);
  std::jthread keeper([&] {
    for (std::uint32_t handle = 1; handle <= rounds; ++handle) {
      both.arrive_and_wait();
      taken[handle] = shared->take_in_time(handle, handle);
    }
  });
  std::vector<char> kept(rounds + 1);
  for (std::uint32_t handle = 1; handle <= rounds; ++handle) {
    both.arrive_and_wait();
    kept[handle] = shared->keep(handle);
  }
  keeper.join();
  for (std::uint32_t handle = 1; handle <= rounds; ++handle) {
    ASSERT_NE(kept[handle], taken[handle]) << handle;
    ASSERT_EQ(shared->taken(handle), taken[handle] != 0) << handle;
    ASSERT_TRUE(taken[handle] == 0 || shared->since(handle) == handle);
  }
}

} // namespace
} // namespace mqbridge::rsp
