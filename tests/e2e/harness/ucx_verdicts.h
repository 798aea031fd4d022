#pragma once

#include "tests/e2e/harness/verdict_case.h"

#include <iosfwd>
#include <string>
#include <vector>

namespace mqbridge::e2e {

/// A case that runs over UCX without a recorder.
struct UcxVerdict {
  bool mpich = false; ///< Debian's; else Open MPI
  VerdictCase of;
};

void PrintTo(const UcxVerdict& param, std::ostream* stream);

/// "mpich_recv_ring_2"
std::string case_name(const UcxVerdict& param);

/// The cases of these names with each of the MPIs; without names all that can be run so.
std::vector<UcxVerdict> ucx_verdicts(const std::vector<std::string>& names = {});

/// Runs the case. UCX counts no messages: a deadlock need not be certain, and calls without
/// requests (MPI_Probe) leave a job undecided. But the verdict is never another one, and the core
/// is the right one.
void expect_verdict_over_ucx(const UcxVerdict& param);

} // namespace mqbridge::e2e
