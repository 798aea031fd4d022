#pragma once

#include "tests/support/temp_directory.h"

#include <chrono>
#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace mqbridge::test {

/// How a process ended: an exit code or a signal.
struct Ending {
  std::optional<int> code;
  std::optional<int> signal;
};

struct ChildSpec {
  std::vector<std::string> argv; ///< argv[0] is looked up in PATH
  std::vector<std::pair<std::string, std::string>> environment = {}; ///< beside the test's own
};

/// A process that a test started, with its output in files. The destructor kills it and everything
/// that descends from it, and waits for them, unless wait() has seen its end; the kernel kills it
/// when the test dies.
///
/// Start from the thread that lives as long as the test: the kernel's promise hangs on the starting
/// thread.
class ChildProcess {
public:
  /// Returns once the program runs. Throws std::system_error if there is no process to be had; a
  /// program that cannot be executed ends with code 127.
  explicit ChildProcess(const ChildSpec& spec);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const;

  /// nullopt: still running after `timeout`.
  std::optional<Ending> wait(std::chrono::milliseconds timeout);

  std::string out() const; ///< what it has written so far
  std::string err() const;

private:
  TempDirectory files_;
  pid_t pid_ = -1;
  std::optional<Ending> ending_;
};

/// Processes that lost their parent become the test's own (PR_SET_CHILD_SUBREAPER): those with this
/// program name that still live. The dead ones are reaped on the way.
std::vector<pid_t> orphans(const std::string& name);

/// SIGKILL, and waits until the process has gone, be it the test's own or not.
void kill_and_reap(pid_t pid);

} // namespace mqbridge::test
