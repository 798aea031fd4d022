#include "tests/cli/program.h"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <spawn.h>
#include <sstream>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

extern char** environ;

namespace mqbridge::test {
namespace {

std::string content(int descriptor) {
  std::string text;
  char buffer[4096];
  for (off_t at = 0;;) {
    const ssize_t count = ::pread(descriptor, buffer, sizeof buffer, at);
    if (count <= 0)
      return text;
    text.append(buffer, static_cast<std::size_t>(count));
    at += count;
  }
}

} // namespace

ShellCommand::ShellCommand(const std::string& command)
    : out_(::memfd_create("out", MFD_CLOEXEC)), err_(::memfd_create("err", MFD_CLOEXEC)) {
  // A function, so that the tests read like what a user types.
  const std::string script =
      "mqbridge() { '" MQBRIDGE_PROGRAM "' \"$@\"; }; program='" MQBRIDGE_PROGRAM "'; " + command;
  const char* arguments[] = {"sh", "-c", script.c_str(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out_, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err_, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  const int error = ::posix_spawn(&pid_, "/bin/sh", &actions, &attributes,
                                  const_cast<char**>(arguments), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0)
    throw std::runtime_error("cannot start a shell");
}

ShellCommand::~ShellCommand() {
  if (pid_ > 0) {
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(out_);
  ::close(err_);
}

void ShellCommand::signal(int number) const {
  ::kill(pid_, number);
}

bool ShellCommand::says(const std::string& text) const {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (content(err_).find(text) == std::string::npos) {
    if (std::chrono::steady_clock::now() > deadline)
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

Ran ShellCommand::finish(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  int status = 0;
  while (::waitpid(pid_, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > deadline)
      return {std::nullopt, content(out_), content(err_)};
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  pid_ = -1;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), content(out_),
          content(err_)};
}

Ran run(const std::string& command) {
  return ShellCommand(command).finish();
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "mqbridge-cli-XXXXXX").string();
  if (!::mkdtemp(name.data()))
    throw std::runtime_error("cannot make a directory");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void write_file(const std::filesystem::path& path, const std::string& content) {
  std::ofstream(path) << content;
}

std::string read_file(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

} // namespace mqbridge::test
