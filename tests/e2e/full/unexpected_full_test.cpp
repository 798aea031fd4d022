// 200 random programs: no unexpected message is invented and none is missing, and the counters are
// the messages under way.

#include "tests/e2e/harness/call_job.h"
#include "tests/e2e/harness/foreign_poster.h"
#include "tests/e2e/harness/traffic.h"
#include "tests/support/eventually.h"
#include "tests/support/requirements.h"
#include "tests/support/temp_directory.h"

#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;

std::vector<TrafficStep> random_steps(std::uint32_t programs, int ranks) {
  std::vector<TrafficStep> steps;
  for (std::uint32_t seed = 1; seed <= programs; ++seed)
    steps.push_back(random_traffic(1000 * static_cast<std::uint32_t>(ranks) + seed, ranks));
  return steps;
}

class RandomPrograms : public testing::TestWithParam<int> {};

TEST_P(RandomPrograms, ShowWhatWasSentAndNotReceived) {
  const int ranks = GetParam();
  for (const char* btl : {"vader", "tcp"})
    expect_traffic({.program = "mpi_traffic", .arguments = {}, .ranks = ranks, .btl = btl},
                   random_steps(70, ranks));
}

INSTANTIATE_TEST_SUITE_P(Ranks, RandomPrograms, testing::Values(2, 3, 4),
                         [](const auto& each) { return fmt::format("of_{}", each.param); });

TEST(RandomProgramsOf32Bits, ShowWhatWasSentAndNotReceived) {
  const ForeignPlatform& i386 = foreign_platform("i386");
  MQBRIDGE_SKIP_IF_LACKING(lacking(i386));
  expect_traffic(foreign_job(i386, "mpi_traffic", 3), random_steps(20, 3));
}

// A rank that is alone, under qemu-user: bytes in the other order. It talks to itself.
TEST(RandomProgramsOfBigEndian, ShowWhatWasSentAndNotReceived) {
  const ForeignPlatform& s390x = foreign_platform("s390x");
  MQBRIDGE_SKIP_IF_LACKING(lacking(s390x));
  for (std::uint32_t seed = 1; seed <= 5; ++seed) {
    const test::TempDirectory directory;
    std::ofstream(directory / "schedule") << schedule_text({random_traffic(seed, 1)});
    const SingleProcess process([&](const auto& own) {
      return foreign_command(s390x, own, {(directory / "schedule").string(), "signal"},
                             "mpi_traffic");
    });
    const auto socket = process.directory() / stub_socket;
    ASSERT_TRUE(test::eventually(10s, [&] { return std::filesystem::exists(socket); }));
    const DumpOutcome dump = dump_json({"--sysroot", files_of(s390x).string(), "--run-until",
                                        "signal=SIGUSR1", "unix:" + socket.string()});
    ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
    EXPECT_THAT(traffic_differences(process.directory() / "step.0", dump.document), IsEmpty());
  }
}

} // namespace
} // namespace mqbridge::e2e
