#pragma once

#include <chrono>
#include <set>
#include <string>
#include <sys/types.h>
#include <vector>

namespace mqbridge::e2e {

/// The processes that a test has started, with all that descends from them, on each of its
/// computers: to see afterwards that nothing has been left behind anywhere.
class Census {
public:
  /// Those that live now.
  Census();

  /// What has come since then and is still there after `patience`: "gdbserver (4711)". Programs
  /// with the names in `but` do not count.
  std::vector<std::string> left_behind(std::chrono::milliseconds patience,
                                       const std::set<std::string>& but = {}) const;

private:
  std::vector<std::string> newcomers(const std::set<std::string>& but) const;

  std::set<pid_t> known_;
};

/// Those of `pids` that are stopped, or that somebody traces; after `patience` for them to run on.
std::vector<pid_t> still_held(const std::vector<pid_t>& pids, std::chrono::milliseconds patience);

} // namespace mqbridge::e2e
