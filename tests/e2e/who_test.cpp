// Who is in which communicator, over two jobs of which one spawned the other.

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/who_is_who.h"

#include <gmock/gmock.h>

namespace mqbridge::e2e {
namespace {

using nlohmann::json;
using testing::IsEmpty;

TEST(WhoIsWho, OverTwoJobsOfOpenMpi) {
  MpiJob job({.program = "who_is_who", .arguments = {}, .btl = "vader,tcp"});
  const DumpOutcome dump = dump_json(who_targets(job.directory()));
  ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  ASSERT_EQ(dump.document["ranks"].size(), 4U);
  EXPECT_THAT(who_differences(job.directory(), dump.document, true), IsEmpty());
  for (const json& rank : dump.document["ranks"]) {
    EXPECT_EQ(rank["world_size"], 2);
    int internal = 0;
    for (const json& communicator : rank["communicators"])
      internal += communicator["internal"] ? 1 : 0;
    EXPECT_EQ(internal, 3) << "of two intercommunicators and a window";
    EXPECT_EQ(find_communicator(rank, "renamed")["queues"]["receive"]["total"], 1);
  }
  EXPECT_TRUE(who_finishes(job.directory()));
}

} // namespace
} // namespace mqbridge::e2e
