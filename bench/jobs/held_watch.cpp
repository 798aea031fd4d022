#include "bench/jobs/held_watch.h"

#include "tests/support/process_table.h"

#include <algorithm>
#include <utility>

namespace mqbridge::bench {

using Clock = std::chrono::steady_clock;

HeldWatch::HeldWatch(std::vector<pid_t> pids)
    : pids_(std::move(pids)), held_(pids_.size()),
      thread_([this](const std::stop_token& ended) { watch(ended); }) {}

void HeldWatch::watch(const std::stop_token& ended) {
  auto before = Clock::now();
  while (!ended.stop_requested()) {
    std::this_thread::sleep_for(interval);
    const auto now = Clock::now();
    for (std::size_t i = 0; i < pids_.size(); ++i) {
      if (test::is_stopped(pids_[i]))
        held_[i] += now - before;
    }
    before = now;
  }
}

std::chrono::milliseconds HeldWatch::longest() {
  thread_.request_stop();
  thread_.join();
  return std::chrono::duration_cast<std::chrono::milliseconds>(
      *std::max_element(held_.begin(), held_.end()));
}

} // namespace mqbridge::bench
