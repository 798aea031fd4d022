// A rank in a real container of podman, with the files of this computer: dumped from outside.

#include "tests/e2e/harness/census.h"
#include "tests/e2e/harness/debian13.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/oracle.h"
#include "tests/e2e/harness/target_programs.h"
#include "tests/support/pid_namespace.h"
#include "tests/support/process_table.h"
#include "tests/support/real_stub.h"
#include "tests/support/requirements.h"
#include "tests/support/temp_directory.h"

#include <fstream>
#include <gmock/gmock.h>
#include <unistd.h>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;

/// Neither systemd nor more than this process has is needed.
constexpr const char* configuration = R"([engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[network]
network_backend = "netavark"
)";

std::string lacking_podman() {
  for (const char* tool : {"podman", "runc", "conmon"}) {
    if (auto lacking = test::lacking_program(tool, "podman runc"); !lacking.empty())
      return lacking;
  }
  return "";
}

/// podman keeps what it must in `own`, and writes nothing into `root`, the files of the container.
test::ChildSpec in_podman(const test::ChildSpec& program, const std::filesystem::path& directory,
                          const std::filesystem::path& own,
                          const std::filesystem::path& root = "/") {
  test::ChildSpec spec = {test::in_own_pid_namespace({"podman"})};
  const auto add = [&](const std::vector<std::string>& words) {
    spec.argv.insert(spec.argv.end(), words.begin(), words.end());
  };
  add({"--root", own / "storage", "--runroot", own / "run", "--network-config-dir", own / "network",
       "run", "--rm", "--network", "none", "--ulimit", "nofile=1024:1024", "--ulimit",
       "nproc=4096:4096"});
  for (const std::string& shared : {directory.string(), std::string(MQBRIDGE_BINARY_DIRECTORY)})
    add({"--volume", shared + ":" + shared});
  for (const auto& [name, value] : program.environment)
    add({"--env", name + "=" + value});
  add({"--rootfs", root.string() + ":O"});
  add(program.argv);
  spec.environment.emplace_back("CONTAINERS_CONF", (own / "containers.conf").string());
  return spec;
}

TEST(PodmanTest, ANodeCommandLeadsToARankInItsContainer) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root has containers here";
  MQBRIDGE_SKIP_IF_LACKING(lacking_podman());
  const test::TempDirectory own;
  std::ofstream(own / "containers.conf") << configuration;
  SingleProcess process([&](const std::filesystem::path& directory) {
    return in_podman(SingleProcess::command("oracle_poster", directory, {"mix"}), directory,
                     own.path());
  });
  process.await_ready();
  const auto outside = test::descendant_named(process.pid(), "oracle_poster");
  ASSERT_TRUE(outside);
  EXPECT_NE(test::innermost_pid(*outside), *outside);
  const Census census;
  const DumpOutcome dump =
      dump_json({"--node-command", "nsenter -t {pid} -a", local_target(*outside)});
  ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  EXPECT_THAT(differences(read_oracle(process.directory(), 0), dump.document["ranks"][0]),
              IsEmpty());
  EXPECT_THAT(still_held({*outside}, 5s), IsEmpty());
  EXPECT_THAT(census.left_behind(5s), IsEmpty());
  EXPECT_EQ(process.finish(), "");
}

// mpirun, its ranks, and another system's files in the container; mqbridge outside of it.
TEST(PodmanTest, AJobInAContainerIsDumpedByItsLauncher) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root has containers here";
  MQBRIDGE_SKIP_IF_LACKING(lacking_podman());
  MQBRIDGE_SKIP_IF_LACKING(lacking_debian13());
  const test::TempDirectory own;
  std::ofstream(own / "containers.conf") << configuration;
  SingleProcess process([&](const std::filesystem::path& directory) {
    test::ChildSpec spec = SingleProcess::command("oracle_poster", directory, {"mix"});
    spec.argv.insert(spec.argv.begin(), {"/usr/bin/mpirun.openmpi", "--mca", "pml", "ob1", "--mca",
                                         "btl", "self,sm", "-n", "1"});
    for (auto& variable : root_may_run())
      spec.environment.push_back(std::move(variable));
    return in_podman(spec, directory, own.path(), target_files("debian13-amd64"));
  });
  process.await_ready();
  const auto launcher = test::descendant_named(process.pid(), "prterun");
  ASSERT_TRUE(launcher);
  const DumpOutcome dump = dump_json({"--mpirun", std::to_string(*launcher)});
  ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  EXPECT_THAT(differences(read_oracle(process.directory(), 0), dump.document["ranks"][0]),
              IsEmpty());
  EXPECT_EQ(process.finish(), "");
}

} // namespace
} // namespace mqbridge::e2e
