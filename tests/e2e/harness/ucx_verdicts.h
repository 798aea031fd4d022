#pragma once

#include "tests/e2e/harness/verdict_case.h"

#include <string>
#include <vector>

namespace mqbridge::e2e {

/// The cases of these names that can be run over UCX; without names all of them.
std::vector<VerdictCase> ucx_verdicts(const std::vector<std::string>& names = {});

/// Runs the case over UCX, without a recorder. UCX counts no messages: a deadlock need not be
/// certain, and calls without requests (MPI_Probe) leave a job undecided. But the verdict is never
/// another one, and the core is the right one.
void expect_verdict_over_ucx(const VerdictCase& param);

} // namespace mqbridge::e2e
