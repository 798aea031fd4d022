#include "tests/e2e/harness/recorded_verdicts.h"

#include "tests/e2e/harness/mpich.h"
#include "tests/e2e/harness/verdict_job.h"

#include <fmt/format.h>
#include <ostream>

namespace mqbridge::e2e {
namespace {

/// Debian's MPICH spawns nothing without a name server, and its mpiexec ends a job of which a rank
/// leaves early.
bool is_for(const VerdictCase& of, const std::string& mpi) {
  return mpi != "mpich" || !(of.spawns || of.scenario.starts_with("early_exit"));
}

/// What a recorder knows otherwise than Open MPI's own objects tell.
VerdictCase as_recorded(VerdictCase of) {
  if (of.scenario == "waitany_ibarrier")
    of.confidence = "certain"; // it says which requests the call waits for
  if (of.scenario == "roots_of_bcast" || of.scenario == "roots_of_reduce" ||
      of.scenario == "order_of_ibcasts")
    of.findings.emplace_back("collective_mismatch");
  return of;
}

} // namespace

void PrintTo(const RecordedVerdict& param, std::ostream* stream) {
  *stream << case_name(param);
}

std::string case_name(const RecordedVerdict& param) {
  return param.mpi + "_" + case_name(param.of);
}

std::vector<RecordedVerdict> recorded_verdicts() {
  std::vector<RecordedVerdict> all;
  for (const char* mpi : {"ob1", "ucx", "mpich"})
    for (const VerdictCase& each : verdict_cases())
      if (is_for(each, mpi))
        all.push_back({mpi, as_recorded(each)});
  return all;
}

JobSpec recorded_spec(const RecordedVerdict& param) {
  const bool mpich = param.mpi == "mpich";
  JobSpec spec = mpich ? debian_mpich_job("verdict", {param.of.scenario}, param.of.ranks)
                       : verdict_spec(param.of);
  if (mpich && param.of.spawns)
    spec.spawned = param.of.ranks;
  if (param.mpi == "ucx")
    spec.pml = "ucx";
  spec.environment.emplace_back("LD_PRELOAD", fmt::format("{}/recorder/{}/libmqbridge-recorder.so",
                                                          MQBRIDGE_BINARY_DIRECTORY,
                                                          mpich ? "mpich" : "openmpi"));
  return spec;
}

std::string lacking_for(const RecordedVerdict& param) {
  return param.mpi == "mpich" ? lacking_debian_mpich() : "";
}

} // namespace mqbridge::e2e
