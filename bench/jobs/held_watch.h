#pragma once

#include <chrono>
#include <stop_token>
#include <sys/types.h>
#include <thread>
#include <vector>

namespace mqbridge::bench {

/// Looks again and again, in a thread of its own, whether a debugger holds processes. It measures
/// stops as the kernel shows them, too short or too long by two of its intervals at most.
class HeldWatch {
public:
  static constexpr std::chrono::milliseconds interval{20};

  explicit HeldWatch(std::vector<pid_t> pids);

  /// Ends the watch. Returns the longest time for which a process was held.
  std::chrono::milliseconds longest();

private:
  void watch(const std::stop_token& ended);

  std::vector<pid_t> pids_;
  std::vector<std::chrono::steady_clock::duration> held_;
  std::jthread thread_;
};

} // namespace mqbridge::bench
