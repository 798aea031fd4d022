// Jobs of Debian 13 (Open MPI 5, MPICH 4.2) in a mount namespace of their own, looked at from this
// system, without any option: other files than here, another MPI, and no debug DLL that fits.

#include "tests/e2e/harness/debian13.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/oracle.h"
#include "tests/support/requirements.h"

#include <gmock/gmock.h>

namespace mqbridge::e2e {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Debian13Test, OfADeadlockedJobOfOpenMpi5TheCycleIsFound) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_debian13());
  const test::TempDirectory root;
  const MpiJob job(under_openmpi5({.program = "ring_deadlock", .ranks = 4}, root.path()));
  ASSERT_TRUE(job.await_spinning({0, 1, 2, 3}));
  const DumpOutcome dump = dump_json({"--analyze", "--mpirun", std::to_string(job.launcher())});
  const json& verdict = dump.document["analysis"];
  EXPECT_EQ(verdict["verdict"], "deadlock") << testing::PrintToString<Outcome>(dump);
  EXPECT_THAT(verdict["confidence"].get<std::string>(), testing::AnyOf("certain", "likely"));
}

TEST(Debian13Test, ADllOfAnotherReleaseIsUsedOnlyIfNamedAndNeverBelieved) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_debian13());
  const test::TempDirectory root;
  MpiJob job(under_openmpi5({.arguments = {"mix"}}, root.path()));
  const auto own = dump_json({local_target(SingleProcess("oracle_poster", {"mix"}).pid())});
  const std::string dll = own.document["ranks"][0]["dll"]["path"];
  const DumpOutcome dump =
      dump_json({"--dll", dll, "--analyze", "--mpirun", std::to_string(job.launcher())});
  for (const json& rank : dump.document["ranks"]) {
    EXPECT_NE(rank["status"], "ok");
    EXPECT_FALSE(find_error(rank, "dll.version_differs").is_null()) << rank["errors"].dump(1);
    for (const json& communicator : rank["communicators"])
      for (const json& queue : communicator["queues"])
        EXPECT_NE(queue["state"], "available");
  }
  EXPECT_EQ(dump.document["analysis"]["verdict"], "undecided");
  EXPECT_EQ(job.finish(), "");
}

TEST(Debian13Test, ASessionWithoutAWorldHasItsCommunicatorAndItsVerdict) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_debian13());
  const test::TempDirectory root;
  const MpiJob job(under_openmpi5(
      {.program = program_of_openmpi5("mpi_4").string(), .arguments = {"session"}, .ranks = 3},
      root.path()));
  ASSERT_TRUE(job.await_spinning({0, 1, 2}));
  const DumpOutcome dump = dump_json({"--analyze", "--mpirun", std::to_string(job.launcher())});
  ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  for (int rank = 0; rank < 3; ++rank) {
    const json& view = dump.document["ranks"][static_cast<std::size_t>(rank)];
    ASSERT_EQ(view["communicators"].size(), 1U) << view["communicators"].dump(1);
    const json& communicator = view["communicators"][0];
    EXPECT_EQ(communicator["name"], "session");
    EXPECT_EQ(communicator["size"], 3);
    EXPECT_EQ(communicator["local_rank"], rank);
    const json& receives = communicator["queues"]["receive"]["operations"];
    ASSERT_EQ(receives.size(), 1U);
    EXPECT_EQ(receives[0]["peer"]["local_rank"], (rank + 2) % 3);
    EXPECT_EQ(receives[0]["peer"]["global_rank"], (rank + 2) % 3);
    EXPECT_EQ(receives[0]["tag"]["value"], 17);
  }
  EXPECT_EQ(dump.document["analysis"]["verdict"], "deadlock");
  EXPECT_THAT(dump.document["analysis"]["cycles"], testing::SizeIs(1));
}

// What is started for each partition is Open MPI's own: nothing says which of them MPI_Waitall
// waits for, and the program may mark the others ready.
TEST(Debian13Test, PartitionsThatAreNotReadyAreShownAndNoVerdictRestsOnThem) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_debian13());
  const test::TempDirectory root;
  const MpiJob job(under_openmpi5(
      {.program = program_of_openmpi5("mpi_4").string(), .arguments = {"partitioned"}},
      root.path()));
  ASSERT_TRUE(job.await_spinning({0, 1}));
  const DumpOutcome dump = dump_json({"--analyze", "--mpirun", std::to_string(job.launcher())});
  ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  for (const json& rank : dump.document["ranks"]) {
    EXPECT_EQ(rank["blocked_in"][0]["call"], "MPI_Waitall");
    int pending = 0;
    for (const json& communicator : rank["communicators"])
      for (const json& operation :
           communicator["queues"]["receive"].value("operations", json::array())) {
        pending += operation["status"] == "pending" ? 1 : 0;
        EXPECT_EQ(operation["length"]["value"], 256 * 8) << operation.dump(1);
      }
    EXPECT_EQ(pending, 2) << rank["communicators"].dump(1);
  }
  EXPECT_EQ(dump.document["analysis"]["verdict"], "undecided");
}

/// Its library exports the functions of MPI alone.
TEST(Debian13Test, QueuesOfMpich42AreReadWithoutDllAndTypes) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_debian13());
  const test::TempDirectory root;
  const MpiJob job(in_debian13({.program = "debian-mpich/ring_deadlock", .ranks = 4}, root.path(),
                               {"/usr/bin/mpiexec.mpich"}));
  ASSERT_TRUE(job.await_spinning({0, 1, 2, 3}));
  const DumpOutcome dump = dump_json({"--analyze", "--mpirun", std::to_string(job.launcher())});
  EXPECT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  ASSERT_EQ(dump.document["ranks"].size(), 4U);
  for (const json& rank : dump.document["ranks"]) {
    EXPECT_EQ(rank["status"], "ok");
    EXPECT_EQ(rank["mpi"]["name"], "MPICH");
    EXPECT_THAT(rank["mpi"]["version"].get<std::string>(), testing::StartsWith("4.2."));
    EXPECT_EQ(rank["mpi"]["transport"], "ch4:ucx");
    EXPECT_EQ(rank["blocked_in"][0]["call"], "MPI_Recv");
    EXPECT_TRUE(rank["dll"].is_null());
  }
  EXPECT_EQ(dump.document["analysis"]["verdict"], "deadlock");
  EXPECT_EQ(expand_runs(dump.document["analysis"]["core"]).size(), 4U);
}

} // namespace
} // namespace mqbridge::e2e
