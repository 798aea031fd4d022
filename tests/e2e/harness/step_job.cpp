#include "tests/e2e/harness/step_job.h"

#include "tests/support/eventually.h"
#include "tests/support/process_table.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <stdexcept>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

} // namespace

fs::path StepJob::directory(int step) const {
  return job_.directory() / fmt::format("step.{}", step);
}

void StepJob::await_step(int step) const {
  for (int rank = 0; rank < job_.ranks(); ++rank) {
    const auto ready = directory(step) / fmt::format("ready.{}", rank);
    if (!test::eventually(30s, [&] { return fs::exists(ready); }))
      throw std::runtime_error(fmt::format("rank {} does not come to step {}", rank, step));
  }
}

bool StepJob::has_returned(int step, int rank) const {
  return fs::exists(directory(step) / fmt::format("returned.{}", rank));
}

bool StepJob::await_blocked(int step, const std::vector<int>& ranks) const {
  constexpr std::uint64_t enough_ticks = 3;
  std::vector<std::uint64_t> before(ranks.size());
  std::transform(ranks.begin(), ranks.end(), before.begin(),
                 [&](int rank) { return test::cpu_ticks(job_.pid(rank)); });
  const auto settled = [&](std::size_t i) {
    return has_returned(step, ranks[i]) ||
           test::cpu_ticks(job_.pid(ranks[i])) >= before[i] + enough_ticks;
  };
  return test::eventually(30s, [&] {
    for (std::size_t i = 0; i < ranks.size(); ++i)
      if (!settled(i))
        return false;
    return true;
  });
}

DumpOutcome StepJob::dump(const std::vector<std::string>& options) const {
  std::vector<std::string> arguments = options;
  for (int rank = 0; rank < job_.ranks(); ++rank)
    arguments.push_back(local_target(job_.pid(rank)));
  return dump_json(arguments);
}

void StepJob::go(int step) const {
  std::ofstream(directory(step) / "go").flush();
}

} // namespace mqbridge::e2e
