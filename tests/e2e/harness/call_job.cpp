#include "tests/e2e/harness/call_job.h"

#include "tests/e2e/harness/call_sites.h"
#include "tests/e2e/harness/step_job.h"
#include "tests/support/temp_directory.h"

#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <set>

namespace mqbridge::e2e {
namespace {

using testing::IsEmpty;

void expect_ended(const DumpOutcome& dump, int ranks) {
  ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  ASSERT_EQ(dump.document["ranks"].size(), static_cast<std::size_t>(ranks));
}

void expect_call(const StepJob& job, int step, const CallCase& param,
                 const std::vector<std::string>& options) {
  const DumpOutcome dump = job.dump(options);
  ASSERT_NO_FATAL_FAILURE(expect_ended(dump, job.job().ranks()));
  EXPECT_THAT(call_differences(param, job.directory(step), dump.document), IsEmpty());
  EXPECT_THAT(site_differences(param, job.directory(step), dump.document), IsEmpty());
}

void expect_site(const StepJob& job, int step, const CallCase& param) {
  const DumpOutcome dump = job.dump();
  ASSERT_NO_FATAL_FAILURE(expect_ended(dump, job.job().ranks()));
  EXPECT_THAT(site_differences(param, job.directory(step), dump.document), IsEmpty());
}

void go_through(JobSpec job, const std::vector<CallCase>& cases, Threads threads,
                const std::function<void(const StepJob&, int, const CallCase&)>& expect) {
  job.arguments = {threads == Threads::single ? "single" : "multiple"};
  for (const CallCase& each : cases)
    job.arguments.push_back(each.argument());
  StepJob steps(job);
  for (int step = 0; const CallCase& each : cases) {
    SCOPED_TRACE(each.argument());
    steps.await_step(step);
    EXPECT_TRUE(steps.await_blocked(step, each.inside));
    expect(steps, step, each);
    steps.go(step++);
  }
  EXPECT_EQ(steps.finish(), "");
}

} // namespace

void expect_recorded_calls(JobSpec job, const std::vector<CallCase>& cases) {
  const auto knows_more = [](const std::string& difference) {
    return difference.find("communicators of the library") != std::string::npos ||
           difference.find(": nobody sent ") != std::string::npos ||
           difference.find(": nobody is known to wait for it: ") != std::string::npos;
  };
  go_through(std::move(job), cases, Threads::single,
             [&](const StepJob& steps, int step, const CallCase& each) {
               const DumpOutcome dump = steps.dump();
               ASSERT_NO_FATAL_FAILURE(expect_ended(dump, steps.job().ranks()));
               auto differences = call_differences(each, steps.directory(step), dump.document);
               std::erase_if(differences, knows_more);
               EXPECT_THAT(differences, IsEmpty());
               EXPECT_THAT(site_differences(each, steps.directory(step), dump.document), IsEmpty());
             });
}

void expect_recorded_collectives(JobSpec job, const std::vector<CallCase>& cases) {
  go_through(std::move(job), cases, Threads::single,
             [&](const StepJob& steps, int step, const CallCase& each) {
               const DumpOutcome dump = steps.dump();
               ASSERT_NO_FATAL_FAILURE(expect_ended(dump, steps.job().ranks()));
               EXPECT_THAT(site_differences(each, steps.directory(step), dump.document), IsEmpty());
               std::set<std::int64_t> numbers;
               for (const int rank : each.inside)
                 for (const auto& call :
                      dump.document["ranks"][static_cast<std::size_t>(rank)]["blocked_in"])
                   if (!call["call"].is_null())
                     numbers.insert(call.value("sequence", std::int64_t{-1}));
               EXPECT_EQ(numbers.size(), 1U);
               EXPECT_FALSE(numbers.contains(-1)) << "not known";
             });
}

void expect_calls(JobSpec job, const std::vector<CallCase>& cases, Threads threads,
                  const std::vector<std::string>& options) {
  go_through(std::move(job), cases, threads,
             [&](const StepJob& steps, int step, const CallCase& each) {
               expect_call(steps, step, each, options);
             });
}

void expect_call_sites(JobSpec job, const std::vector<CallCase>& cases, Threads threads) {
  go_through(std::move(job), cases, threads, expect_site);
}

void expect_traffic(JobSpec job, const std::vector<TrafficStep>& steps) {
  const test::TempDirectory directory;
  std::ofstream(directory / "schedule") << schedule_text(steps);
  job.arguments = {(directory / "schedule").string()};
  StepJob running(job);
  for (int step = 0; step < static_cast<int>(steps.size()); ++step) {
    SCOPED_TRACE(step);
    running.await_step(step);
    const DumpOutcome dump = running.dump();
    ASSERT_NO_FATAL_FAILURE(expect_ended(dump, job.ranks));
    EXPECT_THAT(traffic_differences(running.directory(step), dump.document), IsEmpty());
    running.go(step);
  }
  EXPECT_EQ(running.finish(), "");
}

} // namespace mqbridge::e2e
