// Queues of dead processes, from their core files: what the processes posted, by their own word,
// and what a dump of them said while they lived.

#include "tests/e2e/harness/dead_process.h"
#include "tests/e2e/harness/foreign_poster.h"
#include "tests/e2e/harness/foreign_truth.h"
#include "tests/support/core_files.h"
#include "tests/support/real_stub.h"
#include "tests/support/requirements.h"

#include <algorithm>
#include <filesystem>
#include <gmock/gmock.h>

namespace mqbridge::e2e {
namespace {

using nlohmann::json;
using testing::IsEmpty;

TEST(GcoreTest, OfOpenMpiGivesTheDocumentOfTheLiveProcess) {
  MQBRIDGE_SKIP_IF_LACKING(test::lacking_program("gcore", "gdb"));
  expect_gcore_as_live(
      [](const auto& directory) {
        return SingleProcess::command("oracle_poster", directory, {"mix"});
      },
      Mpi::lists_all);
}

TEST(GcoreTest, OfA32BitOpenMpiGivesTheDocumentOfTheLiveProcess) {
  MQBRIDGE_SKIP_IF_LACKING(test::lacking_program("gcore", "gdb"));
  const ForeignPlatform& i386 = foreign_platform("i386");
  MQBRIDGE_SKIP_IF_LACKING(lacking(i386));
  expect_gcore_as_live(
      [&](const auto& directory) { return foreign_command(i386, directory, {"mix"}); },
      Mpi::lists_all);
}

// QEMU's core has neither program headers nor build-ids.
TEST(QemuCoreTest, GivesWhatTheGuestPostedAndTheLiveDump) {
  const ForeignPlatform& s390x = foreign_platform("s390x");
  MQBRIDGE_SKIP_IF_LACKING(lacking(s390x));
  const DeadProcess dead(
      [&](const auto& directory) {
        auto spec = foreign_command(s390x, directory, {"mix"});
        const auto stub = std::ranges::find(spec.argv, "-g");
        spec.argv.erase(stub, stub + 2);
        return spec;
      },
      DeadProcess::Kind::guest);
  const auto program = foreign_program(s390x).string();
  const auto sysroot = files_of(s390x).string();
  const auto dump = dump_json({dead.target() + "@" + program, "--sysroot", sysroot});
  ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  const json& rank = dump.document["ranks"][0];
  expect_foreign(s390x, rank);
  EXPECT_EQ(rank["pid"], dead.pid());
  EXPECT_THAT(differences(dead.oracle(), rank), IsEmpty());
  ForeignPoster alive(s390x, "mix");
  const auto live = dump_json(alive);
  EXPECT_EQ(comparable_communicators(rank).dump(1),
            comparable_communicators(live.document["ranks"][0]).dump(1));

  // Another program: it is said, and nothing of it is shown.
  const auto other = foreign_program(s390x, "many_receives").string();
  const auto wrong = dump_json({dead.target() + "@" + other, "--sysroot", sysroot});
  EXPECT_EQ(wrong.status(), 3);
  EXPECT_FALSE(find_error(wrong.document["ranks"][0], "core.no_executable").is_null());
}

TEST(KernelCoreTest, OfARankInsideMpiRecvGivesItsPendingReceive) {
  MQBRIDGE_SKIP_IF_LACKING(test::lacking_kernel_cores());
  const DeadProcess dead("blocked_recv");
  const auto dump = dump_json({dead.target()});
  ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  const auto oracle = dead.oracle();
  EXPECT_TRUE(std::ranges::any_of(oracle.operations, [](const json& operation) {
    return operation["queue"] == "receive" && operation["status"] == "pending";
  }));
  EXPECT_THAT(differences(oracle, dump.document["ranks"][0]), IsEmpty());
}

test::ChildSpec hiding_its_requests(const std::filesystem::path& directory) {
  return SingleProcess::command("hidden_requests", directory);
}

void expect_unknown_receives(const std::string& target) {
  const auto dump = dump_json({target});
  EXPECT_EQ(dump.status(), 1) << testing::PrintToString<Outcome>(dump);
  const json& rank = dump.document["ranks"][0];
  EXPECT_EQ(rank["status"], "partial");
  EXPECT_EQ(find_error(rank, "core.left_out")["level"], "error");
  for (const auto& communicator : rank["communicators"]) {
    const auto& receives = communicator["queues"]["receive"];
    EXPECT_EQ(receives["state"], "error");
    EXPECT_TRUE(receives["total"].is_null());
  }
}

TEST(KernelCoreTest, RequestsThatItLeftOutAreUnknownAndNotAbsent) {
  MQBRIDGE_SKIP_IF_LACKING(test::lacking_kernel_cores());
  const DeadProcess dead(hiding_its_requests, DeadProcess::Kind::native);
  expect_unknown_receives(dead.target());
}

TEST(GcoreTest, RequestsThatItLeftOutAreUnknownAndNotAbsent) {
  MQBRIDGE_SKIP_IF_LACKING(test::lacking_program("gcore", "gdb"));
  SingleProcess process("hidden_requests");
  const test::TempDirectory cores;
  expect_unknown_receives("core:" + test::gcore(process.pid(), cores.path()).string());
  EXPECT_EQ(process.finish(), "");
}

TEST(KernelCoreTest, CutAtEachTenthSaysSoAndInventsNothing) {
  MQBRIDGE_SKIP_IF_LACKING(test::lacking_kernel_cores());
  const DeadProcess dead("mix");
  const auto size = std::filesystem::file_size(dead.core());
  for (std::uintmax_t tenth = 9; tenth > 0; --tenth) {
    SCOPED_TRACE(tenth);
    std::filesystem::resize_file(dead.core(), size / 10 * tenth);
    const auto dump = dump_json({dead.target()});
    ASSERT_TRUE(dump.document.is_object()) << testing::PrintToString<Outcome>(dump);
    const json& rank = dump.document["ranks"][0];
    EXPECT_FALSE(find_error(rank, "core.truncated").is_null());
    expect_nothing_invented(dead.oracle(), rank);
  }
}

TEST(KernelCoreTest, RandomDamageIsAnErrorOrAnAnswer) {
  MQBRIDGE_SKIP_IF_LACKING(test::lacking_kernel_cores());
  const DeadProcess dead("mix");
  expect_damage_survived(dead, 25);
}

} // namespace
} // namespace mqbridge::e2e
