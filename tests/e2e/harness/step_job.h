#pragma once

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"

#include <filesystem>
#include <string>
#include <vector>

namespace mqbridge::e2e {

/// A job whose program goes through steps (tests/inferiors/mpi_calls.c, mpi_traffic.c): it stands
/// in each of them until the test has looked.
class StepJob {
public:
  explicit StepJob(const JobSpec& spec) : job_(spec) {}

  const MpiJob& job() const { return job_; }
  /// Where the ranks say what they have done in a step.
  std::filesystem::path directory(int step) const;
  /// Waits until all ranks stand in it. Throws std::runtime_error if they do not come to that.
  void await_step(int step) const;
  /// Waits until each of these ranks has either come out of its call again or has used CPU time
  /// since all stand in the step, which is more than what it can do without the others takes.
  bool await_blocked(int step, const std::vector<int>& ranks) const;
  /// Came out of the call of a step.
  bool has_returned(int step, int rank) const;
  /// A dump of all ranks.
  DumpOutcome dump(const std::vector<std::string>& options = {}) const;
  /// Lets them go on to the next step.
  void go(int step) const;
  /// As MpiJob::finish.
  std::string finish() { return job_.finish(); }

private:
  MpiJob job_;
};

} // namespace mqbridge::e2e
