#pragma once

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/verdict_case.h"

#include <iosfwd>
#include <string>
#include <vector>

namespace mqbridge::e2e {

/// A case that runs under the recorder: with Open MPI over `ob1` or `ucx`, or with Debian's
/// `mpich`.
struct RecordedVerdict {
  std::string mpi;
  VerdictCase of;
};

void PrintTo(const RecordedVerdict& param, std::ostream* stream);

/// "ucx_recv_ring_2"
std::string case_name(const RecordedVerdict& param);

/// All cases with each of the MPIs.
std::vector<RecordedVerdict> recorded_verdicts();

/// How such a job is started.
JobSpec recorded_spec(const RecordedVerdict& param);
/// For MQBRIDGE_SKIP_IF_LACKING.
std::string lacking_for(const RecordedVerdict& param);

} // namespace mqbridge::e2e
