#include "host/bridge/monitor_command.h"

#include "host/disk/spawn.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mqbridge {

MonitorCommand::MonitorCommand(const std::vector<std::string>& argv, rsp::Bell& bell)
    : bell_(bell) {
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    printed_ = fmt::format("no socket: {}\n", std::strerror(errno));
    has_ended_ = true;
    return;
  }
  output_ = rsp::UniqueFd(ends[0]);
  const rsp::UniqueFd theirs(ends[1]);
  const auto started = spawn(argv, {.output = theirs.get(), .error = theirs.get()});
  if (!started) {
    printed_ = started.error().message + "\n";
    has_ended_ = true;
    return;
  }
  pid_ = *started;
  reader_ = std::jthread([this] { read(); });
}

MonitorCommand::~MonitorCommand() {
  {
    const std::lock_guard lock(mutex_);
    is_wanted_ = false;
  }
  taken_.notify_one();
  constexpr std::chrono::seconds patience{3};
  constexpr std::chrono::milliseconds pause{5};
  const auto deadline = rsp::Bell::Clock::now() + patience;
  bool is_killed = false;
  if (pid_ != 0)
    ::kill(pid_, SIGINT);
  while (pid_ != 0 && ::waitpid(pid_, nullptr, WNOHANG) == 0) {
    if (!is_killed && rsp::Bell::Clock::now() > deadline)
      is_killed = ::kill(pid_, SIGKILL) == 0;
    std::this_thread::sleep_for(pause);
  }
  if (output_)
    ::shutdown(output_.get(), SHUT_RD); // a program that it has left behind may still have it
}

void MonitorCommand::read() {
  constexpr std::size_t most_ahead = std::size_t{1} << 20;
  std::array<char, 65'536> buffer{};
  for (bool goes_on = true; goes_on;) {
    const auto count = ::read(output_.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR)
      continue;
    goes_on = count > 0;
    {
      std::unique_lock lock(mutex_);
      taken_.wait(lock, [&] { return printed_.size() < most_ahead || !is_wanted_; });
      if (goes_on && is_wanted_)
        printed_.append(buffer.data(), static_cast<std::size_t>(count));
      has_ended_ = !goes_on;
    }
    bell_.ring();
  }
}

std::string MonitorCommand::take(std::size_t most) {
  const std::lock_guard lock(mutex_);
  std::string text = printed_.substr(0, most);
  printed_.erase(0, text.size());
  taken_.notify_one();
  return text;
}

bool MonitorCommand::is_over() {
  if (pid_ != 0 && ::waitpid(pid_, nullptr, WNOHANG) == pid_) {
    pid_ = 0;
    ended_ = rsp::Bell::Clock::now();
  }
  constexpr std::chrono::milliseconds to_be_read{300};
  const std::lock_guard lock(mutex_);
  return printed_.empty() &&
         (has_ended_ || (pid_ == 0 && rsp::Bell::Clock::now() - ended_ > to_be_read));
}

} // namespace mqbridge
