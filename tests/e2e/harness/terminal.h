#pragma once

#include "rsp/unique_fd.h"
#include "tests/support/child_process.h"

#include <chrono>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <thread>

namespace mqbridge::e2e {

/// A terminal with an interactive shell in it: keys become signals there, as they do for a user.
class Terminal {
public:
  static constexpr std::string_view ctrl_c = "\x03";
  static constexpr std::string_view ctrl_z = "\x1a";
  static constexpr std::string_view ctrl_backslash = "\x1c";

  /// Throws std::system_error if there is no pseudo-terminal.
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void type(std::string_view keys) const;
  /// The user closes the window.
  void close();

  /// What has been shown so far.
  std::string shown() const;
  bool shows(std::string_view text, std::chrono::milliseconds timeout) const;

  pid_t shell() const { return shell_->pid(); }

private:
  void read_on(const std::stop_token& ended);

  rsp::UniqueFd controller_;
  mutable std::mutex mutex_;
  std::string shown_;
  std::optional<test::ChildProcess> shell_;
  std::jthread reader_; // last: it uses the rest
};

} // namespace mqbridge::e2e
