#pragma once

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/verdict_case.h"

#include <nlohmann/json.hpp>
#include <string>

namespace mqbridge::e2e {

/// Why Open MPI has no libfabric here; empty: it has.
std::string lacking_libfabric();

/// The job with Open MPI's cm and mtl/ofi, by the provider that every machine has.
JobSpec over_libfabric(JobSpec spec);

/// Runs the case over libfabric: its verdict is the right one, with the right core, or undecided.
/// Returns the document's `analysis`.
nlohmann::json verdict_over_libfabric(const VerdictCase& param);

} // namespace mqbridge::e2e
