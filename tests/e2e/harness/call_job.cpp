#include "tests/e2e/harness/call_job.h"

#include "tests/e2e/harness/step_job.h"
#include "tests/e2e/harness/traffic.h"

#include <gmock/gmock.h>
#include <set>

namespace mqbridge::e2e {
namespace {

using testing::IsEmpty;

// mpi_calls knows the others from these.
const std::set<std::string> message_calls = {
    "send",          "ssend",           "rsend",         "bsend",
    "recv",          "probe",           "mprobe",        "sendrecv",
    "wait",          "waitall",         "waitany",       "sendrecv_replace",
    "waitall_mixed", "waitsome",        "waitall_sends", "waitany_ibarrier",
    "two_threads",   "waitall_ibarrier"};

void expect_ended(const DumpOutcome& dump, int ranks) {
  ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  ASSERT_EQ(dump.document["ranks"].size(), static_cast<std::size_t>(ranks));
}

void expect_call(const StepJob& job, int step, const CallCase& param) {
  SCOPED_TRACE(param.argument());
  job.await_step(step);
  EXPECT_TRUE(job.await_blocked(step, param.inside));
  const DumpOutcome dump = job.dump();
  ASSERT_NO_FATAL_FAILURE(expect_ended(dump, job.job().ranks()));
  const auto compare =
      message_calls.count(param.call) == 0 ? inside_differences : message_differences;
  EXPECT_THAT(compare(param, job.directory(step), dump.document), IsEmpty());
  job.go(step);
}

} // namespace

void expect_calls(int ranks, const std::vector<CallCase>& cases, Threads threads) {
  JobSpec spec = {.program = "mpi_calls",
                  .arguments = {threads == Threads::single ? "single" : "multiple"},
                  .ranks = ranks};
  for (const CallCase& each : cases)
    spec.arguments.push_back(each.argument());
  StepJob job(spec);
  for (int step = 0; const CallCase& each : cases)
    expect_call(job, step++, each);
  EXPECT_EQ(job.finish(), "");
}

JobSpec traffic_job(int ranks, const std::filesystem::path& schedule) {
  return {.program = "mpi_traffic", .arguments = {schedule.string()}, .ranks = ranks};
}

void expect_traffic(const JobSpec& spec, int steps) {
  StepJob job(spec);
  for (int step = 0; step < steps; ++step) {
    SCOPED_TRACE(step);
    job.await_step(step);
    const DumpOutcome dump = job.dump();
    ASSERT_NO_FATAL_FAILURE(expect_ended(dump, spec.ranks));
    EXPECT_THAT(traffic_differences(job.directory(step), dump.document), IsEmpty());
    job.go(step);
  }
  EXPECT_EQ(job.finish(), "");
}

} // namespace mqbridge::e2e
