// A process that no signal reaches: the parent of a vfork() child.

#include "tests/dump/real/rank_under_test.h"
#include "tests/support/eventually.h"
#include "tests/support/process_table.h"

#include <chrono>
#include <csignal>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace mqbridge {
namespace {

using namespace std::chrono_literals;

/// In state D until wake(): its child sleeps with its parent's memory.
class AsleepTest : public testing::Test {
protected:
  AsleepTest() : pid_(::fork()) {
    if (pid_ == 0) {
      ::setpgid(0, 0);
      if (::vfork() == 0) {
        ::pause();
        ::_exit(0);
      }
      while (true)
        ::usleep(1000);
    }
    EXPECT_TRUE(test::eventually(5s, [this] { return test::process_state(pid_) == 'D'; }));
  }
  ~AsleepTest() override {
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  RankDump dump() {
    test::DumpTools tools;
    std::shared_ptr<rsp::SharedStub> stub;
    const auto target = TargetSpec::parse(fmt::format("local:{}", pid_)).value();
    return dump_rank(target, tools.tools(), stub, {}, {}).dump;
  }

  const pid_t pid_;
};

TEST_F(AsleepTest, IsSaidAtOnceAndNothingStaysAttached) {
  const auto begun = std::chrono::steady_clock::now();
  const auto rank = dump();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 5s);
  ASSERT_FALSE(rank.errors.empty());
  EXPECT_EQ(rank.errors.front().code, "attach.uninterruptible");
  EXPECT_THAT(rank.errors.front().message, testing::HasSubstr("state D"));
  EXPECT_THAT(rank.errors.front().hint, testing::HasSubstr(fmt::format("/proc/{}", pid_)));
  EXPECT_EQ(rank.stopped_ms, std::nullopt);
  EXPECT_EQ(test::tracer_of(pid_), 0);
}

TEST_F(AsleepTest, OneThatWakesInTimeIsAttached) {
  std::thread waker([this] {
    std::this_thread::sleep_for(200ms);
    for (const pid_t child : test::children_of(pid_))
      ::kill(child, SIGKILL);
  });
  const auto rank = dump();
  waker.join();
  EXPECT_NE(rank.stopped_ms, std::nullopt);
}

} // namespace
} // namespace mqbridge
