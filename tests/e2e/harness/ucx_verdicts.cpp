#include "tests/e2e/harness/ucx_verdicts.h"

#include "tests/e2e/harness/mpich.h"
#include "tests/e2e/harness/oracle.h"
#include "tests/e2e/harness/verdict_job.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <ostream>

namespace mqbridge::e2e {

void PrintTo(const UcxVerdict& param, std::ostream* stream) {
  *stream << case_name(param);
}

std::string case_name(const UcxVerdict& param) {
  return (param.mpich ? "mpich_" : "openmpi_") + case_name(param.of);
}

namespace {

/// Not with MPICH: it ends a job whose rank has gone, and MPI_Scan of three ranks ends where it
/// should wait.
bool is_for_mpich(const VerdictCase& of) {
  return !of.scenario.starts_with("early_exit") && of.scenario != "scan_against_recv";
}

} // namespace

std::vector<UcxVerdict> ucx_verdicts(const std::vector<std::string>& names) {
  std::vector<UcxVerdict> all;
  for (const bool mpich : {false, true})
    for (const VerdictCase& each : verdict_cases())
      // A job that spawns would need another network; the recorder's tests have the same reason.
      if (!each.spawns && (!mpich || is_for_mpich(each)) &&
          (names.empty() || std::ranges::find(names, case_name(each)) != names.end()))
        all.push_back({mpich, each});
  return all;
}

void expect_verdict_over_ucx(const UcxVerdict& with) {
  const VerdictCase& param = with.of;
  JobSpec spec =
      with.mpich ? debian_mpich_job("verdict", {param.scenario}, param.ranks) : verdict_spec(param);
  if (!with.mpich)
    spec.pml = "ucx";
  VerdictJob job(param, spec, {});
  const DumpOutcome look = job.look();
  const auto analysis = look.document.value("analysis", nlohmann::json());
  ASSERT_FALSE(analysis.is_null()) << look.err;
  const std::string verdict = analysis["verdict"];
  testing::Test::RecordProperty("verdict", verdict);
  if (analysis["confidence"].is_string())
    testing::Test::RecordProperty("confidence", analysis["confidence"].get<std::string>());
  EXPECT_TRUE(verdict == param.verdict || verdict == "undecided") << analysis.dump(1);
  if (verdict == "deadlock") {
    const auto core = expand_runs(analysis["core"]);
    EXPECT_EQ(std::vector<int>(core.begin(), core.end()), param.core) << analysis.dump(1);
  }
  EXPECT_EQ(job.finish(), "");
}

} // namespace mqbridge::e2e
