// How long it takes to compare the variables of the ranks of one node.

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace mqbridge::e2e {
namespace {

using nlohmann::json;

TEST(VariablesOfSixteenRanks, AreComparedInASecond) {
  constexpr int ranks = 16;
  constexpr int tries = 3; // the machine may be busy otherwise
  constexpr std::chrono::milliseconds limit(1000);
  MpiJob job({.program = "tool_variables", .ranks = ranks});
  std::vector<std::string> arguments = {"vars", "--diff", "--format", "json"};
  for (int rank = 0; rank < ranks; ++rank)
    arguments.push_back(local_target(job.pid(rank)));
  auto best = std::chrono::steady_clock::duration::max();
  for (int i = 0; i < tries; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const auto outcome = run_mqbridge(arguments);
    best = std::min(best, std::chrono::steady_clock::now() - start);
    ASSERT_EQ(outcome.status(), 0) << testing::PrintToString(outcome);
    const json compared = json::parse(outcome.out)["variable_differences"].at(0);
    EXPECT_EQ(compared["of"]["ranks"], json::parse("[[0,15,1]]"));
    EXPECT_GT(compared["compared"], 800) << "or the time says nothing";
  }
  RecordProperty(
      "milliseconds",
      static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(best).count()));
  EXPECT_LT(best, limit);
  EXPECT_EQ(job.finish(), "");
}

} // namespace
} // namespace mqbridge::e2e
