#include "tests/watch/watcher.h"

#include "tests/support/eventually.h"

#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace mqbridge::test {
namespace {

using namespace std::chrono_literals;

std::string text_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

void connect(const std::filesystem::path& file, int flags, int to) {
  const int descriptor = ::open(file.c_str(), flags | O_CLOEXEC, 0600);
  if (descriptor < 0 || ::dup2(descriptor, to) < 0)
    ::_exit(98);
}

int watch(const std::string& script, const WatchLimits& limits, std::chrono::milliseconds grace) {
  auto command = WatchedCommand::start({"sh", "-c", script}, limits);
  if (!command)
    return 97;
  const auto end = (*command)->wait();
  if (end == WatchEnd::ended)
    return (*command)->exit_status().value_or(96);
  if (!(*command)->end(grace).empty())
    return 99;
  return end == WatchEnd::too_long ? 124 : 125;
}

} // namespace

Watcher::Watcher(const Body& body) {
  pid_ = ::fork();
  if (pid_ < 0)
    throw std::runtime_error("cannot fork");
  if (pid_ != 0)
    return;
  ::setpgid(0, 0);
  connect("/dev/null", O_RDONLY, STDIN_FILENO);
  connect(files_ / "out", O_WRONLY | O_CREAT, STDOUT_FILENO);
  connect(files_ / "err", O_WRONLY | O_CREAT, STDERR_FILENO);
  ::_exit(body());
}

Watcher::Watcher(const std::string& script, const WatchLimits& limits,
                 std::chrono::milliseconds grace)
    : Watcher([&] { return watch(script, limits, grace); }) {}

Watcher::~Watcher() {
  if (pid_ <= 0)
    return;
  for (const auto& process : process_tree(pid_))
    send_signal(process, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Watcher::signal(int number) const {
  ::kill(pid_, number);
}

std::string Watcher::out() const {
  return text_of(files_ / "out");
}

std::string Watcher::err() const {
  return text_of(files_ / "err");
}

bool Watcher::says(const std::string& text) const {
  return eventually(10s, [&] { return out().find(text) != std::string::npos; });
}

std::optional<int> Watcher::finish(std::chrono::milliseconds limit) {
  int status = 0;
  if (!eventually(limit, [&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; }))
    return std::nullopt;
  pid_ = -1;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

} // namespace mqbridge::test
