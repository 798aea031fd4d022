// A guardian that is killed is replaced by one that knows as much, but not for ever.

#include "tests/rsp/guardian/guardian_fixture.h"
#include "tests/support/faults_tried.h"
#include "tests/support/temp_directory.h"

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <vector>

namespace mqbridge::rsp {
namespace {

using namespace std::chrono_literals;
using test::ScriptedStub;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr int most_restarts = 5;

/// Kills the guardian; the next one, or 0 if none comes.
pid_t kill_guardian() {
  const pid_t before = await_guardian();
  kill(before, SIGKILL);
  const auto other = [before] { return guardian_pid() != before && guardian_pid() != 0; };
  return test::eventually(10s, other, 1ms) ? guardian_pid() : 0;
}

/// Whether it has been told of so many connections: they lie beyond its channel.
bool watches(pid_t guardian, int connections) {
  return test::eventually(10s, [=] { return test::sockets_of(guardian) == connections + 1; });
}

TEST(GuardianReplacement, TheNextOneKnowsWhatIsLeftToRelease) {
  std::array<ScriptedStub, 3> stubs;
  std::vector<std::unique_ptr<RawClient>> clients;
  auto guardian = started();
  ASSERT_TRUE(guardian);
  for (std::size_t i = 0; i < stubs.size(); ++i) {
    clients.push_back(std::make_unique<RawClient>(stubs[i]));
    const auto handle = guardian->watch(clients.back()->descriptor());
    ASSERT_TRUE(handle);
    if (i > 0)
      name_process(*guardian, *handle, "D;1f");
    if (i == 1)
      guardian->add_detach_packet(*handle, "D;2f");
    if (i == 2)
      guardian->forget(*handle);
  }
  const pid_t next = kill_guardian();
  ASSERT_NE(next, 0);
  EXPECT_TRUE(watches(next, 2));
  EXPECT_FALSE(guardian->trouble());
  release(std::move(guardian));
  EXPECT_THAT(stubs[0].received(), ElementsAre("D"));
  EXPECT_THAT(stubs[1].received(), UnorderedElementsAre("D;1f", "D;2f"));
  EXPECT_EQ(stubs[2].count("D"), 0);
}

TEST(GuardianReplacement, WhatIsSaidAfterwardsReachesTheNextOne) {
  ScriptedStub stub;
  const RawClient client(stub);
  auto guardian = started();
  ASSERT_TRUE(guardian);
  const auto handle = guardian->watch(client.descriptor());
  ASSERT_TRUE(handle);
  for (int round = 0; round < 3; ++round) {
    // At once: it may be missed first by who looks after it, or by what is said next.
    kill(await_guardian(), SIGKILL);
    name_process(*guardian, *handle, fmt::format("D;{}", round).c_str());
    if (round > 0)
      guardian->drop_detach_packet(*handle, fmt::format("D;{}", round - 1).c_str());
  }
  release(std::move(guardian));
  EXPECT_THAT(stub.received(), ElementsAre("D;2"));
}

TEST(GuardianReplacement, ItsConnectionIsLeftAsTheFirstOneWouldHaveLeftIt) {
  ScriptedStub stub;
  const RawClient client(stub);
  auto guardian = started();
  ASSERT_TRUE(guardian);
  const auto handle = guardian->watch(client.descriptor());
  ASSERT_TRUE(handle);
  guardian->set_manner(*handle, guardian::Manner::leave);
  ASSERT_NE(kill_guardian(), 0);
  release(std::move(guardian));
  EXPECT_THAT(stub.received(), ElementsAre()) << "closing is what lets its target run";
}

TEST(GuardianReplacement, EndsWhenTheyAreKilledAgainAndAgainAndSaysSo) {
  ScriptedStub stub;
  const RawClient client(stub);
  auto guardian = started();
  ASSERT_TRUE(guardian);
  ASSERT_TRUE(guardian->watch(client.descriptor()));
  for (int killed = 0; killed < most_restarts; ++killed) {
    const pid_t next = kill_guardian();
    ASSERT_NE(next, 0) << "restart " << killed;
    ASSERT_TRUE(watches(next, 1));
    ASSERT_FALSE(guardian->trouble());
  }
  kill(await_guardian(), SIGKILL);
  ASSERT_TRUE(test::eventually(5s, [&] { return guardian->trouble().has_value(); }));
  EXPECT_EQ(guardian_pid(), 0);
  EXPECT_EQ(guardian->trouble()->code, "guardian.lost");
  EXPECT_THAT(guardian->trouble()->message, HasSubstr("killed 6 times"));
  const auto refused = guardian->watch(client.descriptor());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "guardian.lost");
  EXPECT_NE(refused.error().hint, "");
  // Of itself again, once they are not killed any more.
  ASSERT_TRUE(test::eventually(
      20s, [&] { return !guardian->trouble(); }, 50ms));
  EXPECT_TRUE(watches(guardian_pid(), 1));
  release(std::move(guardian));
  EXPECT_THAT(stub.received(), ElementsAre("D"));
}

TEST(GuardianReplacement, AProgramThatIsGoneIsNamed) {
  const test::TempDirectory directory;
  const auto program = directory / "mqbridge-guardian";
  std::filesystem::copy_file(test::guardian_program(), program);
  const auto guardian = Guardian::start(program);
  ASSERT_TRUE(guardian) << guardian.error().message;
  const RawClient client;
  ASSERT_TRUE((*guardian)->watch(client.descriptor()));
  std::filesystem::remove(program);
  kill(await_guardian(), SIGKILL);
  ASSERT_TRUE(test::eventually(5s, [&] { return (*guardian)->trouble().has_value(); }));
  const Error trouble = *(*guardian)->trouble();
  EXPECT_EQ(trouble.code, "guardian.lost");
  EXPECT_THAT(trouble.message, HasSubstr(program.string()));
  EXPECT_THAT(trouble.message, HasSubstr("No such file"));
}

/// As when mqbridge is suspended: what was taken is not held by mqbridge any more, nor yet free.
TEST(GuardianReplacement, WhatAKilledOneHadTakenOverTheNextOneReleases) {
  test::faults_tried(2);
  for (const bool forgotten_first : {false, true}) {
    ScriptedStub stub;
    const RawClient client(stub);
    auto guardian = started();
    ASSERT_TRUE(guardian);
    const auto handle = guardian->watch(client.descriptor());
    ASSERT_TRUE(handle);
    guardian::Takeovers* const taken = takeovers();
    ASSERT_NE(taken, nullptr);
    taken->take(*handle, guardian::moment_of(std::chrono::steady_clock::now()));
    munmap(taken, sizeof *taken);
    ASSERT_TRUE(guardian->taken_over(*handle));
    const pid_t killed = await_guardian();
    kill(killed, SIGKILL);
    const auto is_dead = [killed] {
      const char state = test::process_state(killed);
      return state == 'Z' || state == '\0';
    };
    ASSERT_TRUE(test::eventually(10s, is_dead, 0ms));
    if (forgotten_first)
      guardian->forget(*handle);
    EXPECT_TRUE(test::eventually(10s, [&] { return stub.count("D") == 1; })) << forgotten_first;
    release(std::move(guardian));
    EXPECT_THAT(stub.received(), ElementsAre("D")) << forgotten_first;
  }
}

/// It would release everything once it goes on and finds its channel closed.
TEST(GuardianReplacement, OneThatTakesNoMessagesIsKilledFirst) {
  ScriptedStub stub;
  const RawClient client(stub);
  auto guardian = started();
  ASSERT_TRUE(guardian);
  const auto handle = guardian->watch(client.descriptor());
  ASSERT_TRUE(handle);
  const pid_t stopped = await_guardian();
  for (int i = 0; i < 10'000 && guardian_pid() == stopped; ++i) {
    kill(stopped, SIGSTOP); // each time: it is let go on
    guardian->add_detach_packet(*handle, "D;1f");
    guardian->drop_detach_packet(*handle, "D");
  }
  ASSERT_NE(guardian_pid(), stopped);
  EXPECT_EQ(test::process_state(stopped), '\0');
  EXPECT_EQ(stub.count("D"), 0);
  release(std::move(guardian));
  EXPECT_THAT(stub.received(), ElementsAre("D;1f"));
}

/// Nobody else would continue it: it has a session of its own.
TEST(GuardianSuspended, GoesOnSoonAndDoesItsWork) {
  test::faults_tried(3);
  ScriptedStub stub;
  const RawClient client(stub);
  auto guardian = started();
  ASSERT_TRUE(guardian);
  ASSERT_TRUE(guardian->watch(client.descriptor()));
  const pid_t pid = await_guardian();
  const auto is_stopped = [pid] { return test::is_stopped(pid); };
  for (int round = 0; round < 3; ++round) {
    // Until it is seen: on a busy machine it may be let go on before it has had its turn to stop.
    const auto suspended = [&] { return kill(pid, SIGSTOP) == 0 && is_stopped(); };
    ASSERT_TRUE(test::eventually(10s, suspended, 1ms));
    EXPECT_TRUE(test::eventually(5s, [&] { return !is_stopped(); }));
  }
  EXPECT_EQ(guardian_pid(), pid) << "it is the same one";
  EXPECT_FALSE(guardian->trouble());
  release(std::move(guardian));
  EXPECT_THAT(stub.received(), ElementsAre("D"));
}

TEST(GuardianSuspended, IsNotLeftBehind) {
  test::faults_tried(1);
  auto guardian = started();
  ASSERT_TRUE(guardian);
  const pid_t pid = await_guardian();
  kill(pid, SIGSTOP);
  release(std::move(guardian));
  EXPECT_EQ(test::process_state(pid), '\0');
}

#if !defined(__SANITIZE_THREAD__) // makes files of its own at the start of a program
/// Where no file may have any length, there is nothing to mark take-overs in.
TEST(GuardianReplacement, DoesItsWorkUnderALimitOnFiles) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &none), 0);
  auto guardian = started();
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_TRUE(guardian);
  ScriptedStub stub;
  const RawClient client(stub);
  const auto handle = guardian->watch(client.descriptor());
  ASSERT_TRUE(handle);
  EXPECT_FALSE(guardian->taken_over(*handle));
  release(std::move(guardian));
  EXPECT_THAT(stub.received(), ElementsAre("D"));
}
#endif

} // namespace
} // namespace mqbridge::rsp
