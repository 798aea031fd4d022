// The time that a report says a process was held, beside what /proc says of it meanwhile.

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/support/gdb_server.h"
#include "tests/support/process_table.h"

#include <atomic>
#include <chrono>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <thread>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// Looks every millisecond whether a process is stopped, from the first to the last time that it
/// is.
class StopWatch {
public:
  explicit StopWatch(pid_t pid) : thread_([this, pid] { look_at(pid); }) {}
  ~StopWatch() { (void)seen(); }
  StopWatch(const StopWatch&) = delete;
  StopWatch& operator=(const StopWatch&) = delete;

  double seen() {
    done_ = true;
    if (thread_.joinable())
      thread_.join();
    return std::chrono::duration<double, std::milli>(last_ - first_).count();
  }

private:
  void look_at(pid_t pid) {
    for (; !done_; std::this_thread::sleep_for(1ms)) {
      if (!test::is_stopped(pid))
        continue;
      last_ = Clock::now();
      first_ = first_ == Clock::time_point() ? last_ : first_;
    }
  }

  std::atomic<bool> done_ = false;
  Clock::time_point first_{};
  Clock::time_point last_{};
  std::thread thread_;
};

/// As ssh, when the name server or the login is slow.
TEST(HeldTime, IsNotThatOfALogin) {
  const SingleProcess process("many_receives", {"10"});
  StopWatch watch(process.pid());
  const auto outcome =
      dump_json({"--max-stop", "1.8",
                 fmt::format("exec:sleep 2; exec gdbserver --once --attach - {}", process.pid())});
  const double seen = watch.seen();
  ASSERT_EQ(outcome.status(), 0) << testing::PrintToString<Outcome>(outcome);
  const auto& rank = outcome.document["ranks"][0];
  EXPECT_EQ(rank["status"], "ok") << rank["errors"];
  EXPECT_GT(seen, 0);
  EXPECT_GT(rank["stopped_ms"].get<double>(), 0);
  EXPECT_LT(rank["stopped_ms"].get<double>(), seen + 50);
  EXPECT_TRUE(rank["stopped_before_us"].get<bool>())
      << "what the command reached may have held it for long";
}

TEST(HeldTime, IsNotThatOfLookingUpAName) {
  const SingleProcess process("many_receives", {"10"});
  const test::GdbServer server(test::ServerMode::attach_once, process.pid());
  auto spec = mqbridge_command({"dump", "--format", "json", "--max-stop", "1.8",
                                fmt::format("slow.node:{}", server.port())});
  spec.environment = {{"LD_PRELOAD", MQBRIDGE_SLOW_NAMES}, {"SLOW_NAMES", "2000"}};
  const auto outcome = run_program(spec);
  ASSERT_EQ(outcome.status(), 0) << testing::PrintToString(outcome);
  const auto rank = nlohmann::json::parse(outcome.out)["ranks"][0];
  EXPECT_LT(rank["stopped_ms"].get<double>(), 1000);
  EXPECT_TRUE(rank["stopped_before_us"].get<bool>());
}

TEST(HeldTime, IsAllOfItWhereTheStubIsStartedHere) {
  const SingleProcess process("many_receives", {"10"});
  StopWatch watch(process.pid());
  const auto outcome = dump_json({local_target(process.pid())});
  const double seen = watch.seen();
  ASSERT_EQ(outcome.status(), 0) << testing::PrintToString<Outcome>(outcome);
  const auto& rank = outcome.document["ranks"][0];
  EXPECT_GT(rank["stopped_ms"].get<double>(), seen - 50);
  EXPECT_FALSE(rank["stopped_before_us"].get<bool>());
}

} // namespace
} // namespace mqbridge::e2e
