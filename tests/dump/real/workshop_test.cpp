// What outlives a dump, in a program that looks often.

#include "host/dump/workshop.h"
#include "host/mqs/worker_process.h"
#include "tests/dump/real/rank_under_test.h"
#include "tests/support/eventually.h"
#include "tests/support/process_table.h"

#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

namespace mqbridge::test {
namespace {

/// What this program has by now.
struct Possessions {
  std::size_t children = children_of(::getpid()).size();
  std::size_t descriptors = descriptors_of(::getpid()).size();
  std::size_t zombies = 0;

  Possessions() {
    for (const auto child : children_of(::getpid()))
      zombies += process_state(child) == 'Z' ? 1U : 0U;
  }
};

TEST(Workshop, LeavesNothingBehindFromDumpToDump) {
  RankUnderTest rank("recorder_list", {"10", "0", "1"}, ServerMode::multi);
  DumpTools tools;
  const auto workshop = Workshop::open(tools.options);
  ASSERT_TRUE(workshop) << workshop.error().message;
  const std::vector targets{rank.target()};
  std::optional<Possessions> before;
  for (int i = 0; i < 8; ++i) {
    const auto dump = take_dump(targets, **workshop, {}, {});
    ASSERT_EQ(dump.ranks.size(), 1U);
    EXPECT_EQ(dump.ranks.front().status, RankStatus::ok) << errors_of(dump.ranks.front());
    EXPECT_EQ(receives_of(dump.ranks.front()), 10U);
    const Possessions now;
    EXPECT_EQ(now.zombies, 0U);
    if (i == 2) // by now it has what it keeps
      before = now;
    if (!before)
      continue;
    // A process that was started beside the dump may be on its way still.
    EXPECT_TRUE(eventually(std::chrono::seconds(5),
                           [&] {
                             const Possessions left;
                             return left.children <= before->children &&
                                    left.descriptors <= before->descriptors;
                           }))
        << now.children << " children, " << now.descriptors << " descriptors";
  }
  EXPECT_TRUE(rank.finishes());
}

TEST(Workshop, AWorkerOutlivesTheThreadThatStartedIt) {
  std::optional<WorkerProcess> worker;
  std::thread([&] {
    auto started = WorkerProcess::start(MQBRIDGE_PROGRAM_DIRECTORY "/mqbridge-worker");
    ASSERT_TRUE(started) << started.error().message;
    worker.emplace(std::move(*started));
  }).join();
  ASSERT_TRUE(worker);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_TRUE(worker->alive());
}

} // namespace
} // namespace mqbridge::test
