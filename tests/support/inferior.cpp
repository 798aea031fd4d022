#include "tests/support/inferior.h"

#include <fmt/format.h>
#include <fstream>
#include <thread>

namespace mqbridge::test {
namespace {

using namespace std::chrono_literals;

/// The value of a line of /proc/PID/status; empty if there is none.
std::string status_value(pid_t pid, const std::string& name) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name + ":\t"))
      return line.substr(name.size() + 2);
  return {};
}

} // namespace

char process_state(pid_t pid) {
  const std::string state = status_value(pid, "State");
  return state.empty() ? '\0' : state.front();
}

bool is_stopped(pid_t pid) {
  const char state = process_state(pid);
  return state == 't' || state == 'T';
}

bool runs_within(pid_t pid, std::chrono::milliseconds limit) {
  // Attaching and detaching switch context too: only a process that goes on doing so runs.
  constexpr int wakes_of_a_running_one = 5;
  const auto end = std::chrono::steady_clock::now() + limit;
  std::string last;
  int wakes = 0;
  while (std::chrono::steady_clock::now() < end) {
    const std::string switches = status_value(pid, "voluntary_ctxt_switches");
    if (is_stopped(pid) || switches.empty())
      wakes = 0;
    else if (switches != last && ++wakes > wakes_of_a_running_one)
      return true;
    last = switches;
    std::this_thread::sleep_for(2ms);
  }
  return false;
}

} // namespace mqbridge::test
