#pragma once

#include "host/watch/watched_command.h"
#include "tests/support/temp_directory.h"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>

namespace mqbridge::test {

/// A process of its own that watches a command: what it returns is the exit status. Its stdout and
/// stderr are files, its stdin is empty; it leads a process group. Killed at the end of its life.
class Watcher {
public:
  using Body = std::function<int()>;

  explicit Watcher(const Body& body);
  /// One that waits for a shell script, and ends it at a limit. Exit status: the script's; 124 and
  /// 125 where it took too long or was silent; 99 where some of it is left.
  explicit Watcher(const std::string& script, const WatchLimits& limits = {},
                   std::chrono::milliseconds grace = std::chrono::seconds(10));
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const;
  std::string out() const;
  std::string err() const;
  bool says(const std::string& text) const;
  /// 128 + N where signal N ended it; nullopt: not within `limit`.
  std::optional<int> finish(std::chrono::milliseconds limit = std::chrono::seconds(20));

private:
  TempDirectory files_;
  pid_t pid_ = -1;
};

} // namespace mqbridge::test
