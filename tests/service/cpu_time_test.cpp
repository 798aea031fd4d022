// Whether a job computes, by what the kernel counts for its processes.

#include "host/service/cpu_time.h"
#include "host/service/watched_job.h"

#include <gmock/gmock.h>
#include <unistd.h>

namespace mqbridge {
namespace {

using namespace std::chrono_literals;
using Time = std::chrono::steady_clock::time_point;

JobProcess process(pid_t pid, std::uint64_t cpu, std::uint64_t started = 5) {
  return {.pid = pid, .parent = 10, .group = 10, .started = started, .cpu = cpu, .name = "rank"};
}

std::uint64_t ticks(std::chrono::milliseconds time) {
  return static_cast<std::uint64_t>(time.count() * ::sysconf(_SC_CLK_TCK) / 1000);
}

TEST(CpuTime, OfAnyProcessIsMovement) {
  CpuTime time;
  Time now;
  EXPECT_TRUE(time.has_moved({process(10, 3), process(11, 900), process(12, 800)}, now))
      << "it is not known what was before";
  EXPECT_FALSE(time.has_moved({process(10, 3), process(11, 900), process(12, 800)}, now += 5s));
  EXPECT_TRUE(
      time.has_moved({process(10, 3), process(11, 900), process(12, 800 + ticks(60ms))}, now += 5s))
      << "one rank of many computes";
  const auto woken = 800 + ticks(90ms);
  EXPECT_FALSE(time.has_moved({process(10, 3), process(11, 900), process(12, woken)}, now += 5s))
      << "what sleeps wakes at times";
}

TEST(CpuTime, AProcessThatBeginsOrEndsIsMovement) {
  CpuTime time;
  Time now;
  const std::vector<JobProcess> two = {process(10, 3), process(11, 900)};
  const std::vector<JobProcess> three = {process(10, 3), process(11, 900), process(12, 0)};
  EXPECT_TRUE(time.has_moved(two, now));
  EXPECT_TRUE(time.has_moved(three, now += 5s));
  EXPECT_FALSE(time.has_moved(three, now += 5s));
  EXPECT_TRUE(time.has_moved(two, now += 5s));
  EXPECT_TRUE(time.has_moved({process(10, 3), process(11, 900, 77)}, now += 5s))
      << "another one has its number";
}

TEST(CpuTime, WhereThereIsNoJobNothingStandsStill) {
  const auto never_still = [](std::vector<std::vector<JobProcess>> trees) {
    CpuTime time;
    Time now;
    for (const auto& tree : trees)
      EXPECT_TRUE(time.has_moved(tree, now += 5s));
  };
  const std::vector<JobProcess> job = {process(10, 3), process(11, 900)};
  const std::vector<JobProcess> other = {process(10, 3, 99), process(11, 900, 100)};
  never_still({{process(10, 3)}, {process(10, 3)}}); // its ranks have ended
  never_still({job, {}, {}});                        // it has ended
  never_still({job, other, other});                  // what has its number is another one
  never_still({{}, other, other});                   // it had ended before
}

TEST(CpuTime, AJobThatUsesNoneIsLookedAtTwice) {
  const Time begin;
  WatchedJob job({.name = "a", .words = {}, .cpu_of = 10, .quiet = 20s}, {}, begin);
  std::vector<std::int64_t> looks;
  const auto observe = [&](Time from, Time to, std::uint64_t cpu) {
    for (Time now = from; now < to; now += 5s) {
      job.note_processes({process(10, 3), process(11, cpu)}, now);
      if (job.due(now)) {
        looks.push_back((now - begin) / 1s);
        job.begin();
        job.end(nullptr, "", 0, now);
      }
    }
  };
  observe(begin, begin + 100s, 900);
  EXPECT_THAT(looks, testing::ElementsAre(20, 40));
  observe(begin + 100s, begin + 200s, 9000);
  EXPECT_THAT(looks, testing::ElementsAre(20, 40, 120, 140));
}

} // namespace
} // namespace mqbridge
