// 200 random programs: no unexpected message is invented and none is missing, and the counters are
// the messages under way.

#include "tests/e2e/harness/call_job.h"
#include "tests/e2e/harness/traffic.h"
#include "tests/support/temp_directory.h"

#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>

namespace mqbridge::e2e {
namespace {

class RandomPrograms : public testing::TestWithParam<int> {};

TEST_P(RandomPrograms, ShowWhatWasSentAndNotReceived) {
  constexpr std::uint32_t programs = 70;
  const int ranks = GetParam();
  const test::TempDirectory directory;
  std::vector<TrafficStep> steps;
  for (std::uint32_t seed = 1; seed <= programs; ++seed)
    steps.push_back(random_traffic(1000 * static_cast<std::uint32_t>(ranks) + seed, ranks));
  std::ofstream(directory / "schedule") << schedule_text(steps);
  for (const char* btl : {"vader", "tcp"}) {
    JobSpec spec = traffic_job(ranks, directory / "schedule");
    spec.btl = btl;
    expect_traffic(spec, static_cast<int>(steps.size()));
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, RandomPrograms, testing::Values(2, 3, 4),
                         [](const auto& each) { return fmt::format("of_{}", each.param); });

} // namespace
} // namespace mqbridge::e2e
