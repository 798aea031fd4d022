#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <sys/types.h>

namespace mqbridge::test {

/// How a command ended; a negative status is a signal's number.
struct Ran {
  std::optional<int> status; ///< nullopt: it had to be killed
  std::string out;
  std::string err;
};

/// A shell command in a process group of its own, with its output in memory. `mqbridge` in it is
/// the program under test. Killed, group and all, at the end of its life.
class ShellCommand {
public:
  explicit ShellCommand(const std::string& command);
  ~ShellCommand();
  ShellCommand(const ShellCommand&) = delete;
  ShellCommand& operator=(const ShellCommand&) = delete;

  void signal(int number) const;
  /// Waits until it has written `text` on stderr; false after ten seconds.
  bool says(const std::string& text) const;
  Ran finish(std::chrono::milliseconds timeout = std::chrono::seconds(20));

private:
  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
};

Ran run(const std::string& command);

/// A directory that is removed with the test.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

private:
  std::filesystem::path path_;
};

void write_file(const std::filesystem::path& path, const std::string& content);
std::string read_file(const std::filesystem::path& path);

} // namespace mqbridge::test
