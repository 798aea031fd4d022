#include "tests/e2e/harness/ucx_verdicts.h"

#include "tests/e2e/harness/oracle.h"
#include "tests/e2e/harness/verdict_job.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace mqbridge::e2e {

std::vector<VerdictCase> ucx_verdicts(const std::vector<std::string>& names) {
  std::vector<VerdictCase> all;
  for (const VerdictCase& each : verdict_cases())
    // A job that spawns would need another network; the recorder's tests have the same reason.
    if (!each.spawns && (names.empty() || std::ranges::find(names, case_name(each)) != names.end()))
      all.push_back(each);
  return all;
}

void expect_verdict_over_ucx(const VerdictCase& param) {
  JobSpec spec = verdict_spec(param);
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
