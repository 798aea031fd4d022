#include "tests/e2e/harness/census.h"

#include "tests/support/eventually.h"
#include "tests/support/process_table.h"

#include <algorithm>
#include <fmt/format.h>
#include <unistd.h>

namespace mqbridge::e2e {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds between_looks{20};

} // namespace

Census::Census() {
  const auto all = test::descendants_of(getpid());
  known_ = {all.begin(), all.end()};
}

std::vector<std::string> Census::newcomers(const std::set<std::string>& but) const {
  std::vector<std::string> living;
  for (const pid_t pid : test::descendants_of(getpid())) {
    const char state = test::process_state(pid);
    const std::string name = test::process_name(pid);
    if (!known_.contains(pid) && !but.contains(name) && state != 'Z' && state != '\0')
      living.push_back(fmt::format("{} ({})", name, pid));
  }
  return living;
}

std::vector<std::string> Census::left_behind(milliseconds patience,
                                             const std::set<std::string>& but) const {
  std::vector<std::string> living;
  test::eventually(
      patience,
      [&] {
        living = newcomers(but);
        return living.empty();
      },
      between_looks);
  return living;
}

std::vector<pid_t> still_held(const std::vector<pid_t>& pids, milliseconds patience) {
  std::vector<pid_t> held;
  test::eventually(
      patience,
      [&] {
        held = pids;
        std::erase_if(
            held, [](pid_t pid) { return !test::is_stopped(pid) && test::tracer_of(pid) == 0; });
        return held.empty();
      },
      between_looks);
  return held;
}

} // namespace mqbridge::e2e
