#include "tests/e2e/harness/libfabric.h"

#include "tests/e2e/harness/oracle.h"
#include "tests/e2e/harness/verdict_job.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace mqbridge::e2e {

using nlohmann::json;

std::string lacking_libfabric() {
  constexpr const char* plugin =
      "/usr/lib/x86_64-linux-gnu/openmpi/lib/openmpi3/mca_mtl_ofi.so"; // of Open MPI 4
  return std::filesystem::exists(plugin) ? "" : std::string("this Open MPI has no ") + plugin;
}

JobSpec over_libfabric(JobSpec spec) {
  spec.pml = "cm";
  spec.environment.emplace_back("OMPI_MCA_mtl", "ofi");
  spec.environment.emplace_back("OMPI_MCA_mtl_ofi_provider_include", "tcp;ofi_rxm");
  return spec;
}

json verdict_over_libfabric(const VerdictCase& param) {
  VerdictJob job(param, over_libfabric(verdict_spec(param)), {});
  const DumpOutcome look = job.look();
  const auto analysis = look.document.value("analysis", json::object());
  const std::string verdict = analysis.value("verdict", "");
  testing::Test::RecordProperty("verdict", verdict);
  EXPECT_TRUE(verdict == param.verdict || verdict == "undecided") << look.err << analysis.dump(1);
  if (param.is_deadlock() && verdict == "deadlock") {
    const auto core = expand_runs(analysis["core"]);
    EXPECT_EQ(std::vector<int>(core.begin(), core.end()), param.core) << analysis.dump(1);
  }
  EXPECT_EQ(job.finish(), "");
  return analysis;
}

} // namespace mqbridge::e2e
