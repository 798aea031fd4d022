// Jobs of Open MPI over libfabric (cm, mtl/ofi), whose lists nobody reads: no queue is empty, and
// no verdict is a false one.

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/verdict_job.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace mqbridge::e2e {
namespace {

using nlohmann::json;

JobSpec over(JobSpec spec, const std::string& provider) {
  spec.pml = "cm";
  spec.environment.emplace_back("OMPI_MCA_mtl", "ofi");
  spec.environment.emplace_back("OMPI_MCA_mtl_ofi_provider_include", provider);
  return spec;
}

class OverLibfabric : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    constexpr const char* component =
        "/usr/lib/x86_64-linux-gnu/openmpi/lib/openmpi3/mca_mtl_ofi.so"; // of Open MPI 4
    if (!std::filesystem::exists(component))
      GTEST_SKIP() << "this Open MPI has no " << component;
  }
};

TEST_P(OverLibfabric, NoQueueIsSaidToBeEmpty) {
  MpiJob job(over({.arguments = {"mix"}}, GetParam()));
  const DumpOutcome dump = dump_json({local_target(job.pid(0)), local_target(job.pid(1))});
  for (const json& rank : dump.document["ranks"]) {
    EXPECT_EQ(rank["status"], "partial");
    EXPECT_EQ(rank["mpi"]["transport"], "cm");
    EXPECT_FALSE(find_error(rank, "transport.bypasses").is_null());
    ASSERT_FALSE(rank["communicators"].empty());
    for (const json& communicator : rank["communicators"])
      for (const json& queue : communicator["queues"]) {
        EXPECT_EQ(queue["state"], "unavailable");
        EXPECT_TRUE(queue["total"].is_null());
      }
  }
  EXPECT_EQ(job.finish(), "");
}

TEST_P(OverLibfabric, NoVerdictIsAFalseOne) {
  for (const VerdictCase& each : verdict_cases()) {
    const std::string name = case_name(each);
    if (name != "recv_ring_2" && name != "send_ring_2" && name != "pingpong_2")
      continue;
    SCOPED_TRACE(name);
    VerdictJob job(each, over(verdict_spec(each), GetParam()), {});
    const DumpOutcome look = job.look();
    const auto analysis = look.document.value("analysis", json());
    ASSERT_FALSE(analysis.is_null()) << look.err;
    const std::string verdict = analysis["verdict"];
    EXPECT_TRUE(verdict == each.verdict || verdict == "undecided") << analysis.dump(1);
    EXPECT_EQ(job.finish(), "");
  }
}

INSTANTIATE_TEST_SUITE_P(, OverLibfabric, testing::Values("tcp;ofi_rxm"),
                         [](const auto&) { return "tcp"; });

} // namespace
} // namespace mqbridge::e2e
