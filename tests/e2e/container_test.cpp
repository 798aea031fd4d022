// A rank in namespaces of its own, as in a container: with another number inside than outside.

#include "tests/e2e/harness/census.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/oracle.h"
#include "tests/support/pid_namespace.h"
#include "tests/support/process_table.h"

#include <fstream>
#include <gmock/gmock.h>
#include <unistd.h>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::IsEmpty;

test::ChildSpec contained(const std::filesystem::path& directory) {
  test::ChildSpec spec = SingleProcess::command("oracle_poster", directory, {"mix"});
  const auto entry = test::in_own_pid_namespace();
  spec.argv.insert(spec.argv.begin(), entry.begin(), entry.end());
  return spec;
}

TEST(ContainerTest, ANodeCommandLeadsToARankInside) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root has namespaces";
  SingleProcess process(contained);
  process.await_ready();
  pid_t inside = 0;
  std::ifstream(process.directory() / "ready.0") >> inside;
  const pid_t outside = test::PidNamespace(process.pid()).pid_here(inside);
  ASSERT_NE(outside, inside);
  const Census census;
  const DumpOutcome dump =
      dump_json({"--node-command", "nsenter -t {pid} -a", local_target(outside)});
  ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  EXPECT_THAT(differences(read_oracle(process.directory(), 0), dump.document["ranks"][0]),
              IsEmpty());
  EXPECT_THAT(still_held({outside}, 5s), IsEmpty());
  EXPECT_THAT(census.left_behind(5s), IsEmpty());
  EXPECT_EQ(process.finish(), "");
}

} // namespace
} // namespace mqbridge::e2e
