// Debug DLLs of level 3, which keep what they know of a job from one of its processes to the next.
// tests/mqs/dlls/jobs.c says of each process what it knew by then.

#include "host/memory/page_store.h"
#include "host/mqs/job_workers.h"
#include "host/mqs/message_log.h"
#include "tests/mqs/storing_memory.h"
#include "tests/mqs/test_target.h"
#include "tests/support/faults_tried.h"

#include <chrono>
#include <fmt/format.h>
#include <future>
#include <gmock/gmock.h>
#include <thread>

namespace mqbridge {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;
using testing::UnorderedElementsAre;
using testing::UnorderedElementsAreArray;

constexpr std::uint64_t first_root = 0x10000;

/// Of a job whose processes are of all platforms.
struct JobOfTargets {
  explicit JobOfTargets(std::size_t count) : workers(count), walk{workers, "4711"} {
    const auto& platforms = test_platforms();
    for (std::size_t i = 0; i < count; ++i) {
      targets.push_back(std::make_unique<TestTarget>(platforms[i % platforms.size()]));
      targets.back()->set_root(first_root + i);
    }
  }
  WalkRequest request(std::size_t rank, const std::string& dll = "JOB_KEEPS_A_JOB") {
    auto request = targets[rank]->request(dll);
    request.world_rank_hint = static_cast<std::int64_t>(rank);
    request.job = &walk;
    return request;
  }
  std::string told(std::size_t rank, const std::string& dll = "JOB_KEEPS_A_JOB") {
    return told_by(walk_queues(request(rank, dll)));
  }
  static std::string told_by(const WalkResult& result) {
    if (result.failure)
      return std::string(result.failure->code);
    const auto& only = result.communicators.at(0);
    return fmt::format("{} of {:#x}", only.name, only.id.value);
  }

  std::vector<std::unique_ptr<TestTarget>> targets;
  JobWorkers workers;
  JobOfWalk walk;
};

TEST(JobWorkers, AskOneWorkerAboutAllProcessesOfAJob) {
  JobOfTargets job(5);
  EXPECT_EQ(job.told(0), "1:0:0 of 0x10000");
  EXPECT_EQ(job.told(3), "2:3:1 of 0x10003");
  EXPECT_EQ(job.told(1), "3:1:2 of 0x10001");
  const auto last = walk_queues(job.request(4));
  EXPECT_EQ(JobOfTargets::told_by(last), "4:4:3 of 0x10004");
  EXPECT_EQ(last.dll_version, "jobs 1.0");
  EXPECT_EQ(last.dll_compatibility, 3);
  EXPECT_EQ(last.fetches, 4U); // its own alone: 3 were refused
  EXPECT_THAT(last.dll_messages, IsEmpty());
  EXPECT_FALSE(last.job_lost);
}

TEST(JobWorkers, GiveInfosBackAtTheEndOfTheJob) {
  JobOfTargets job(2);
  job.told(0);
  job.told(1);
  const std::string says = "JOB_KEEPS_A_JOB.so says: ";
  EXPECT_THAT(job.workers.end(), ElementsAre(says + "process 1 is over", says + "process 2 is over",
                                             says + "the job of 2 is over",
                                             says + "an image is over", says + "an image is over"));
  EXPECT_THAT(job.workers.end(), IsEmpty());
}

TEST(JobWorkers, AProcessThatIsLookedAtAgainIsAnotherOneForTheDll) {
  JobOfTargets job(1);
  EXPECT_EQ(job.told(0), "1:0:0 of 0x10000");
  EXPECT_EQ(job.told(0), "2:0:0 of 0x10000");
}

/// All begin at once, each with a worker of its own, as none knows yet that the DLL is of level 3.
TEST(JobWorkers, ServeProcessesThatAreWalkedAtOnce) {
  constexpr std::size_t count = 8;
  JobOfTargets job(count);
  std::vector<std::future<WalkResult>> walks;
  for (std::size_t i = 0; i < count; ++i)
    walks.push_back(std::async(std::launch::async, [&, i] { return walk_queues(job.request(i)); }));
  std::vector<std::string> numbers;
  std::vector<std::string> expected;
  for (std::size_t i = 0; i < count; ++i) {
    const auto result = walks[i].get();
    ASSERT_FALSE(result.failure) << result.failure->message;
    const auto& only = result.communicators.at(0);
    EXPECT_EQ(only.id.value, first_root + i);
    const auto number = only.name.substr(0, only.name.find(':'));
    EXPECT_EQ(only.name, fmt::format("{}:{}:{}", number, i, std::stoi(number) - 1));
    numbers.push_back(number);
    expected.push_back(std::to_string(i + 1));
  }
  EXPECT_THAT(numbers, UnorderedElementsAreArray(expected));
}

TEST(JobWorkers, TellJobsApart) {
  JobOfTargets job(2);
  EXPECT_EQ(job.told(0), "1:0:0 of 0x10000");
  const JobOfWalk other{job.workers, "4712"};
  auto request = job.request(1);
  request.job = &other;
  EXPECT_EQ(JobOfTargets::told_by(walk_queues(request)), "1:1:0 of 0x10001");
}

TEST(JobWorkers, AProcessWhoseJobIsNotKnownIsTheOnlyOneOfIts) {
  JobOfTargets job(2);
  EXPECT_EQ(job.told(0), "1:0:0 of 0x10000");
  auto request = job.request(1);
  request.job = nullptr;
  request.world_rank_hint = -1;
  const auto result = walk_queues(request);
  EXPECT_EQ(JobOfTargets::told_by(result), "1:-1:0 of 0x10001");
  // What it prints and what it says by mqs_dprints come on two ways.
  EXPECT_THAT(result.dll_messages, UnorderedElementsAre("process 1 is over", "the job of 1 is over",
                                                        "an image is over"));
}

TEST(JobWorkers, LeaveADllOfLevel2Alone) {
  JobOfTargets job(2);
  EXPECT_THAT(walk_queues(job.request(0, "PLAIN")).dll_compatibility, 2);
  EXPECT_FALSE(job.workers.knows({job.request(0, "PLAIN").dll, "4711"}));
  EXPECT_THAT(job.workers.end(), IsEmpty());
}

/// What the first process has in its store is not what the second one is read from.
TEST(JobWorkers, ReadEachProcessWhereItIs) {
  JobOfTargets job(3);
  std::vector<std::unique_ptr<PageStore>> stores;
  for (std::size_t i = 0; i < 3; ++i) {
    auto& target = *job.targets[i];
    auto& store = *stores.emplace_back(PageStore::create().value());
    for (std::uint64_t number = 1; number <= 20; ++number) { // which the DLL does not look at
      ASSERT_FALSE(store.prepare(number, 1).empty());
      store.publish(number, 0, PageStore::all_lines);
    }
    StoringMemory memory(target.memory, store);
    const WalkRequest plain = job.request(i);
    WalkRequest request{
        plain.worker, plain.dll, {target.images, memory, target.platform}, "solver"};
    request.sandboxed = plain.sandboxed;
    request.job = plain.job;
    request.world_rank_hint = plain.world_rank_hint;
    request.store = &store;
    EXPECT_EQ(JobOfTargets::told_by(walk_queues(request)),
              fmt::format("{}:{}:{} of {:#x}", i + 1, i, i, first_root + i));
    EXPECT_EQ(store.touched_pages(), 1U);
  }
}

TEST(JobWorkers, GoOnAfterAProcessThatTheDllRefuses) {
  test::faults_tried(1);
  JobOfTargets job(3);
  EXPECT_EQ(job.told(0, "JOB_SECOND_FAILS"), "1:0:0 of 0x10000");
  const auto refused = walk_queues(job.request(1, "JOB_SECOND_FAILS"));
  ASSERT_TRUE(refused.failure);
  EXPECT_EQ(refused.failure->code, "dll.failed");
  EXPECT_THAT(refused.failure->message, HasSubstr("mqs_setup_process: not this one"));
  EXPECT_EQ(job.told(2, "JOB_SECOND_FAILS"), "3:2:2 of 0x10002");
}

TEST(JobWorkers, SayThatAJobWasLost) {
  test::faults_tried(1);
  JobOfTargets job(4);
  EXPECT_EQ(job.told(0, "JOB_SECOND_CRASHES"), "1:0:0 of 0x10000");
  const auto crashed = walk_queues(job.request(1, "JOB_SECOND_CRASHES"));
  ASSERT_TRUE(crashed.failure);
  EXPECT_EQ(crashed.failure->code, "dll.crashed");
  EXPECT_THAT(crashed.failure->message,
              AllOf(HasSubstr("mqs_setup_process"), HasSubstr("SIGABRT")));
  EXPECT_FALSE(crashed.job_lost);
  const auto next = walk_queues(job.request(2, "JOB_SECOND_CRASHES"));
  EXPECT_EQ(JobOfTargets::told_by(next), "1:2:0 of 0x10002");
  EXPECT_TRUE(next.job_lost);
  walk_queues(job.request(3, "JOB_SECOND_CRASHES"));
  EXPECT_TRUE(walk_queues(job.request(0, "JOB_SECOND_CRASHES")).job_lost)
      << "said of all that follow";
}

/// By the out-of-memory killer, say.
TEST(JobWorkers, BeginAJobAnewWhoseIdleWorkerIsKilled) {
  test::faults_tried(1);
  JobOfTargets job(2);
  EXPECT_EQ(job.told(0), "1:0:0 of 0x10000");
  auto turn = job.workers.await({job.request(0).dll, "4711"}, std::nullopt, {});
  ASSERT_TRUE(turn);
  auto idle = turn->take();
  ASSERT_TRUE(idle);
  std::vector<std::string> lines;
  MessageLog log(lines);
  idle->process.end(log, 0); // kills it
  turn->keep(std::move(*idle));
  turn.reset();
  const auto next = walk_queues(job.request(1));
  EXPECT_EQ(JobOfTargets::told_by(next), "1:1:0 of 0x10001");
  EXPECT_TRUE(next.job_lost);
}

TEST(JobWorkers, AJobThatIsNotSetUpIsAnErrorOfEachProcess) {
  test::faults_tried(1);
  JobOfTargets job(2);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    const auto result = walk_queues(job.request(rank, "JOB_SETUP_JOB_FAILS"));
    ASSERT_TRUE(result.failure);
    EXPECT_EQ(result.failure->code, "dll.failed");
    EXPECT_THAT(result.failure->message, HasSubstr("mqs_setup_job: not this one"));
    EXPECT_FALSE(result.job_lost);
  }
}

TEST(JobWorkers, SayWhatTheDllDiedOfAtTheEnd) {
  test::faults_tried(1);
  JobOfTargets job(1);
  job.told(0, "JOB_CRASHES_WITH_THE_JOB");
  const auto said = job.workers.end();
  ASSERT_THAT(said, SizeIs(3));
  EXPECT_THAT(said[2], AllOf(StartsWith("JOB_CRASHES_WITH_THE_JOB.so says: afterwards: "),
                             HasSubstr("mqs_destroy_job_info")));
}

/// A process that waits until others are through waits no longer than it may be held.
class JobWorkersBusy : public testing::Test {
protected:
  JobWorkersBusy() {
    first_ = std::async(std::launch::async, [&] {
      auto request = job_.request(0, "JOB_FIRST_LASTS");
      request.cpu_limit = 20s;
      request.stop = end_.get_token();
      return walk_queues(request);
    });
    while (!job_.workers.knows({job_.request(0, "JOB_FIRST_LASTS").dll, "4711"}))
      std::this_thread::sleep_for(1ms);
  }
  ~JobWorkersBusy() override {
    end_.request_stop();
    first_.wait();
  }
  WalkRequest second() { return job_.request(1, "JOB_FIRST_LASTS"); }

  JobOfTargets job_{2};
  std::stop_source end_;
  std::future<WalkResult> first_;
};

TEST_F(JobWorkersBusy, WaitUntilMaxStop) {
  auto request = second();
  request.deadline = std::chrono::steady_clock::now() + 100ms;
  request.walk_end = std::chrono::steady_clock::now() + 1h;
  EXPECT_EQ(walk_queues(request).failure.value().code, "walk.max_stop");
}

TEST_F(JobWorkersBusy, WaitUntilMaxWalk) {
  auto request = second();
  request.walk_end = std::chrono::steady_clock::now() + 100ms;
  const auto failure = walk_queues(request).failure.value();
  EXPECT_EQ(failure.code, "walk.max_walk");
  EXPECT_THAT(failure.message, HasSubstr("other processes of the job"));
}

TEST_F(JobWorkersBusy, WaitUntilTheUserInterrupts) {
  std::stop_source stop;
  auto request = second();
  request.stop = stop.get_token();
  std::jthread interrupt([&] {
    std::this_thread::sleep_for(50ms);
    stop.request_stop();
  });
  EXPECT_EQ(walk_queues(request).failure.value().code, "interrupted");
}

} // namespace
} // namespace mqbridge
