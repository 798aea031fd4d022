#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace mqbridge::test {

/// A program that a test started: killed and reaped at the end of its life. Its stderr is kept.
class ChildProcess {
public:
  explicit ChildProcess(const std::vector<std::string>& arguments);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  /// Everything it said on stderr so far.
  std::string errors() const;
  /// Waits until it has said `text`; false after five seconds.
  bool says(const std::string& text) const;
  void kill_now();

private:
  pid_t pid_ = -1;
  int errors_ = -1; ///< a memfd: never full, readable from the start
};

} // namespace mqbridge::test
