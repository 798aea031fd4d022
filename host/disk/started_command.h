#pragma once

#include "host/disk/file_descriptor.h"
#include "rsp/result.h"

#include <chrono>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace mqbridge {

/// A command of this host whose stdout is read as it comes. It lives no longer than this object:
/// the end of its stdin asks it to end, then SIGTERM, then SIGKILL.
class StartedCommand {
public:
  /// Error: command.start.
  static Result<StartedCommand> start(const std::vector<std::string>& argv);
  StartedCommand(StartedCommand&&) noexcept;
  StartedCommand& operator=(StartedCommand&&) = delete;
  ~StartedCommand();

  pid_t pid() const { return pid_; }
  int output() const { return output_.get(); } ///< to be polled; never blocks
  int error() const { return error_.get(); }   ///< likewise; -1: closed

  /// Bytes that have come on stdout. Empty: there are no more now.
  std::string read_output();
  /// Takes bytes that have come on stderr, and keeps the last KiBs.
  void read_error();
  const std::string& said() const { return said_; }

  /// Asks it to end by the end of its stdin.
  void close_input() { input_ = FileDescriptor(); }
  /// Whether it has ended, by itself or as it was asked to.
  bool has_ended();
  /// Sends a signal to its process group.
  void signal(int number);
  /// Kills it, and waits for its end.
  void kill();
  /// "ended with status 1", "was killed by signal 9". Once it has ended.
  std::string ending() const;
  /// nullopt: it runs, or a signal ended it.
  std::optional<int> exit_status() const;

private:
  StartedCommand() = default;

  pid_t pid_ = -1;
  FileDescriptor input_;
  FileDescriptor output_;
  FileDescriptor error_;
  std::string said_;
  std::optional<int> status_; ///< as waitpid() gives it
};

} // namespace mqbridge
