// Jobs of Debian 13 (Open MPI 5, MPICH 4.2) in a mount namespace of their own, looked at from this
// system, without any option: other files than here, another MPI, and no debug DLL that fits.

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/oracle.h"
#include "tests/e2e/harness/own_root.h"
#include "tests/e2e/harness/target_programs.h"
#include "tests/support/requirements.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace mqbridge::e2e {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* target = "debian13-amd64";

std::string lacking_debian13() {
  const auto lacking = lacking_own_roots();
  return lacking.empty() ? lacking_target(target) : lacking;
}

/// `launcher` in a root with the target's files, as JobSpec wants it. `root`: an empty directory.
JobSpec job_of_debian13(const std::filesystem::path& root, std::vector<std::string> launcher,
                        int ranks) {
  constexpr const char* build = MQBRIDGE_BINARY_DIRECTORY;
  JobSpec spec;
  spec.ranks = ranks;
  spec.launcher = in_own_root(
      root, target_files(target),
      {{"/proc", "/proc"}, {"/dev", "/dev"}, {"/sys", "/sys"}, {"/tmp", "/tmp"}, {build, build}});
  launcher.insert(launcher.end(), {"-n", std::to_string(ranks)});
  spec.launcher.insert(spec.launcher.end(), launcher.begin(), launcher.end());
  for (const char* allowed : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                              "PRTE_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM"})
    spec.environment.emplace_back(allowed, "1");
  return spec;
}

const std::vector<std::string> openmpi5 = {
    "/usr/bin/mpirun.openmpi", "--oversubscribe", "--mca", "pml", "ob1", "--mca", "btl", "self,sm"};

class OpenMpi5Test : public testing::TestWithParam<const char*> {};

TEST_P(OpenMpi5Test, DumpEqualsWhatWasPosted) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_debian13());
  const test::TempDirectory root;
  JobSpec spec = job_of_debian13(root.path(), openmpi5, 2);
  const std::string scenario = GetParam();
  spec.arguments = {scenario};
  MpiJob job(spec);
  if (scenario.starts_with("blocked")) {
    ASSERT_TRUE(job.await_spinning({0}));
  }
  const DumpOutcome dump = dump_json({"--mpirun", std::to_string(job.launcher())});
  ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  ASSERT_EQ(dump.document["ranks"].size(), 2U);
  for (int rank = 0; rank < 2; ++rank) {
    const json& dumped = dump.document["ranks"][static_cast<std::size_t>(rank)];
    EXPECT_EQ(dumped["status"], "ok");
    EXPECT_EQ(dumped["pid"], job.pid(rank));
    EXPECT_EQ(dumped["world_rank"], rank);
    EXPECT_THAT(dumped["mpi"]["version"].get<std::string>(), testing::StartsWith("5.0."));
    EXPECT_TRUE(dumped["dll"].is_null()) << "that of Open MPI 4.1 is not believed";
    EXPECT_THAT(differences(read_oracle(job.directory(), rank), dumped), IsEmpty())
        << "rank " << rank;
  }
  EXPECT_EQ(job.finish(), "");
}

INSTANTIATE_TEST_SUITE_P(Scenarios, OpenMpi5Test,
                         testing::Values("mix", "inter", "blocked_recv", "blocked_ssend",
                                         "blocked_mprobe", "blocked_wait", "blocked_waitall",
                                         "blocked_waitany"),
                         [](const auto& of) { return std::string(of.param); });

TEST(Debian13Test, OfADeadlockedJobOfOpenMpi5TheCycleIsFound) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_debian13());
  const test::TempDirectory root;
  JobSpec spec = job_of_debian13(root.path(), openmpi5, 4);
  spec.program = "ring_deadlock";
  const MpiJob job(spec);
  ASSERT_TRUE(job.await_spinning({0, 1, 2, 3}));
  const DumpOutcome dump = dump_json({"--analyze", "--mpirun", std::to_string(job.launcher())});
  const json& verdict = dump.document["analysis"];
  EXPECT_EQ(verdict["verdict"], "deadlock") << testing::PrintToString<Outcome>(dump);
  EXPECT_THAT(verdict["confidence"].get<std::string>(), testing::AnyOf("certain", "likely"));
}

TEST(Debian13Test, ADllOfAnotherReleaseIsUsedOnlyIfNamedAndNeverBelieved) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_debian13());
  const test::TempDirectory root;
  JobSpec spec = job_of_debian13(root.path(), openmpi5, 2);
  spec.arguments = {"mix"};
  MpiJob job(spec);
  const auto own = dump_json({local_target(SingleProcess("oracle_poster", {"mix"}).pid())});
  const std::string dll = own.document["ranks"][0]["dll"]["path"];
  const DumpOutcome dump =
      dump_json({"--dll", dll, "--analyze", "--mpirun", std::to_string(job.launcher())});
  for (const json& rank : dump.document["ranks"]) {
    EXPECT_NE(rank["status"], "ok");
    EXPECT_FALSE(find_error(rank, "dll.version_differs").is_null());
    for (const json& communicator : rank["communicators"])
      for (const json& queue : communicator["queues"])
        EXPECT_NE(queue["state"], "available");
  }
  EXPECT_EQ(dump.document["analysis"]["verdict"], "undecided");
  EXPECT_EQ(job.finish(), "");
}

TEST(Debian13Test, ARankOfMpich42IsPartialWithItsCall) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_debian13());
  const test::TempDirectory root;
  JobSpec spec = job_of_debian13(root.path(), {"/usr/bin/mpiexec.mpich"}, 4);
  spec.program = "debian-mpich/ring_deadlock";
  const MpiJob job(spec);
  ASSERT_TRUE(job.await_spinning({0, 1, 2, 3}));
  const DumpOutcome dump = dump_json({"--mpirun", std::to_string(job.launcher())});
  EXPECT_EQ(dump.status(), 1) << testing::PrintToString<Outcome>(dump);
  ASSERT_EQ(dump.document["ranks"].size(), 4U);
  for (const json& rank : dump.document["ranks"]) {
    EXPECT_EQ(rank["status"], "partial");
    EXPECT_EQ(rank["mpi"]["name"], "MPICH");
    EXPECT_THAT(rank["mpi"]["version"].get<std::string>(), testing::StartsWith("4.2."));
    EXPECT_EQ(rank["blocked_in"][0]["call"], "MPI_Recv");
    EXPECT_FALSE(find_error(rank, "dll.not_found").is_null());
    EXPECT_TRUE(rank["communicators"].empty());
  }
}

} // namespace
} // namespace mqbridge::e2e
