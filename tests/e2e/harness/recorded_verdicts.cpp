#include "tests/e2e/harness/recorded_verdicts.h"

#include "tests/e2e/harness/mpich.h"
#include "tests/e2e/harness/verdict_job.h"

#include <fmt/format.h>
#include <ostream>

namespace mqbridge::e2e {
namespace {

/// Nothing tells of MPICH that a rank calls it between two looks. Debian's MPICH spawns nothing,
/// but the one of docker/targets/mpich.sh does ("ch3"). mpiexec of MPICH ends a job of which a rank
/// leaves early.
bool is_for(const VerdictCase& of, const std::string& mpi) {
  if (mpi == "ch3")
    return of.spawns;
  // Over UCX nobody comes out of MPICH's MPI_Scan before all have come.
  if (mpi == "mpich" && (of.scenario == "test_loops_asleep" || of.scenario == "scan_against_recv"))
    return false;
  return mpi != "mpich" || !(of.spawns || of.scenario.starts_with("early_exit"));
}

bool is_mpich(const RecordedVerdict& param) {
  return param.mpi == "mpich" || param.mpi == "ch3";
}

JobSpec spec_for(const RecordedVerdict& param) {
  if (param.mpi == "mpich")
    return debian_mpich_job("verdict", {param.of.scenario}, param.of.ranks);
  if (param.mpi == "ch3")
    return mpich_job("verdict", {param.of.scenario}, param.of.ranks);
  return verdict_spec(param.of);
}

/// What a recorder knows otherwise than Open MPI's own objects tell, and what it does not know.
VerdictCase as_recorded(VerdictCase of, const std::string& mpi) {
  // MPICH does not tell whether it was called between two sleeps.
  const bool polls_unseen =
      mpi == "mpich" && (of.scenario == "test_and_sleep" || of.scenario == "pending_and_asleep");
  // Nearly always all ranks are in MPI_Waitall, and what has just come is not known to the
  // recorder.
  const bool waits_always = mpi == "ucx" && of.scenario == "halo_waitall";
  of.may_be_undecided = of.may_be_undecided || polls_unseen || waits_always;
  if (of.scenario == "waitany_ibarrier")
    of.confidence = "certain"; // it says which requests the call waits for
  if (of.scenario == "early_exit")
    of.confidence = "likely"; // not certain: the counts of who has left are not there
  if (of.scenario == "early_exit_any")
    of.confidence = "possible"; // from any source: nobody counts what who has left had sent
  if (of.scenario == "roots_of_bcast" || of.scenario == "roots_of_reduce" ||
      of.scenario == "order_of_ibcasts")
    of.findings.emplace_back("collective_mismatch");
  if (of.scenario == "order_of_collectives")
    std::erase(of.findings, "collective_order"); // the numbers are a better reason
  if (of.scenario == "persistent_again" || of.scenario == "persistent_other_tag")
    of.findings.emplace_back("tag_mismatch"); // it does not see that a small send is complete
  if (of.scenario == "fence_against_recv" || of.scenario == "fence_of_created")
    of.confidence = "likely"; // it sees nothing inside of these
  if (of.scenario == "merge_against_recv")
    of.core = {0, 3}; // what rank 1 waits for inside of MPI_Intercomm_merge is not recorded
  if (of.scenario == "write_against_close") {
    of.confidence = "likely";
    of.findings = {"knot", "collective_mismatch"};
  }
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
  for (const char* mpi : {"ob1", "ucx", "mpich", "ch3"})
    for (const VerdictCase& each : verdict_cases())
      if (is_for(each, mpi))
        all.push_back({mpi, as_recorded(each, mpi)});
  return all;
}

JobSpec recorded_spec(const RecordedVerdict& param) {
  JobSpec spec = spec_for(param);
  if (param.of.spawns)
    spec.spawned = param.of.ranks;
  if (param.mpi == "ucx")
    spec.pml = "ucx";
  spec.environment.emplace_back("LD_PRELOAD", fmt::format("{}/recorder/{}/libmqbridge-recorder.so",
                                                          MQBRIDGE_BINARY_DIRECTORY,
                                                          is_mpich(param) ? "mpich" : "openmpi"));
  return spec;
}

std::string lacking_for(const RecordedVerdict& param) {
  if (param.mpi == "ch3")
    return lacking_mpich();
  return param.mpi == "mpich" ? lacking_debian_mpich() : "";
}

} // namespace mqbridge::e2e
