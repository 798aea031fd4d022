#include "tests/support/child_process.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace mqbridge::test {

ChildProcess::ChildProcess(const std::vector<std::string>& arguments)
    : errors_(memfd_create("stderr", MFD_CLOEXEC)) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, errors_, STDERR_FILENO);
  std::vector<char*> argv;
  for (const std::string& argument : arguments)
    argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const int error = posix_spawnp(&pid_, argv.front(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    pid_ = -1;
    ADD_FAILURE() << "cannot start " << arguments.front();
  }
}

ChildProcess::~ChildProcess() {
  kill_now();
  close(errors_);
}

std::string ChildProcess::errors() const {
  std::string text;
  std::array<char, 4096> bytes;
  ssize_t count;
  while ((count = pread(errors_, bytes.data(), bytes.size(), static_cast<off_t>(text.size()))) > 0)
    text.append(bytes.data(), static_cast<std::size_t>(count));
  return text;
}

bool ChildProcess::says(const std::string& text) const {
  using namespace std::chrono_literals;
  for (const auto end = std::chrono::steady_clock::now() + 5s;
       std::chrono::steady_clock::now() < end; std::this_thread::sleep_for(1ms))
    if (errors().find(text) != std::string::npos)
      return true;
  return false;
}

void ChildProcess::kill_now() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
  }
}

} // namespace mqbridge::test
