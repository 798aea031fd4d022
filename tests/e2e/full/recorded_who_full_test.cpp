// Who is in which communicator, over two jobs of which one spawned the other, as their recorders
// know it: neither side is told what the other one calls it.

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mpich.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/who_is_who.h"
#include "tests/support/requirements.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace mqbridge::e2e {
namespace {

using nlohmann::json;
using testing::IsEmpty;

JobSpec under_recorder(JobSpec spec, const char* mpi) {
  spec.environment.emplace_back("LD_PRELOAD", fmt::format("{}/recorder/{}/libmqbridge-recorder.so",
                                                          MQBRIDGE_BINARY_DIRECTORY, mpi));
  return spec;
}

void expect_whole_picture(const JobSpec& spec) {
  MpiJob job(spec);
  const DumpOutcome dump = dump_json(who_targets(job.directory()));
  ASSERT_TRUE(dump.document.is_object()) << dump.err;
  ASSERT_EQ(dump.document["ranks"].size(), 4U);
  EXPECT_THAT(who_differences(job.directory(), dump.document, true), IsEmpty());
  for (const json& rank : dump.document["ranks"]) {
    EXPECT_EQ(rank["dll"]["provider"], "recorder");
    EXPECT_EQ(rank["world_size"], 2);
    EXPECT_EQ(rank["joints"].size(), 1U);
    EXPECT_EQ(rank["errors"].dump().find("one at a time"), std::string::npos)
        << "the recorder knows which job it is of";
  }
  EXPECT_TRUE(who_finishes(job.directory()));
}

TEST(RecordedWho, OverTwoJobsOfOpenMpi) {
  expect_whole_picture(
      under_recorder({.program = "who_is_who", .arguments = {}, .btl = "vader,tcp"}, "openmpi"));
}

TEST(RecordedWho, OverTwoJobsOfMpich) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_mpich());
  expect_whole_picture(under_recorder(mpich_job("who_is_who", {}, 2), "mpich"));
}

} // namespace
} // namespace mqbridge::e2e
