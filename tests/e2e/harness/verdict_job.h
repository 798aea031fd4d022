#pragma once

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/verdict_case.h"

#include <cstdint>

namespace mqbridge::e2e {

/// How Open MPI runs the program of a case.
JobSpec verdict_spec(const VerdictCase& param);

/// A job of tests/inferiors/verdict whose ranks have come where the scenario leads.
class VerdictJob {
public:
  /// Of Open MPI. Throws std::runtime_error if they do not come there.
  explicit VerdictJob(const VerdictCase& param);
  /// Of another MPI: `spec` as mpich_job() makes it, `options` of each dump.
  VerdictJob(const VerdictCase& param, const JobSpec& spec, std::vector<std::string> options);

  /// `dump --analyze --twice`: two looks at all ranks, so many seconds apart.
  DumpOutcome look(const std::string& pause = "0.3") const;
  /// Each rank by itself, in random order, `rounds` times, with pauses of 0 to `most` before each;
  /// then `analyze` of all these documents.
  DumpOutcome look_apart(std::uint32_t seed, int rounds = 2,
                         std::chrono::milliseconds most = std::chrono::milliseconds(500)) const;

  /// Lets it go on. Empty if what is no deadlock came to its end, and what is one did not.
  std::string finish();

private:
  std::vector<std::string> targets() const;
  std::vector<std::string> target(int process) const;

  VerdictCase param_;
  std::vector<std::string> options_;
  bool mpirun_; ///< that lists all processes
  MpiJob job_;
};

} // namespace mqbridge::e2e
