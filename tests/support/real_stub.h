#pragma once

#include "tests/support/child_process.h"
#include "tests/support/temp_directory.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge::test {

/// A real stub other than gdbserver, listening on a Unix socket or a port of its own once
/// constructed.
class RealStub {
public:
  /// In `argv` "{socket}" stands for a path that the stub makes and listens on, "{port}" for a free
  /// port of loopback. Throws std::runtime_error with the stub's words if it does not come to
  /// listen.
  explicit RealStub(std::vector<std::string> argv);

  /// What mqbridge takes for a target.
  const std::string& endpoint() const { return endpoint_; }
  pid_t pid() const { return process_->pid(); }
  /// What it has written so far; the process that it started writes there, too.
  std::string out() const { return process_->out(); }
  std::optional<Ending> wait(std::chrono::milliseconds timeout) { return process_->wait(timeout); }
  /// For a relay in between. Throws std::system_error.
  int connect() const;

private:
  TempDirectory directory_;
  std::string endpoint_;
  std::string socket_;
  std::string port_;
  std::optional<ChildProcess> process_;
};

/// For MQBRIDGE_SKIP_IF_LACKING: empty, or that a program lacks and which packages bring it.
std::string lacking_program(const std::string& program, const std::string& packages);

} // namespace mqbridge::test
