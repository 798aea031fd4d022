#include "tests/e2e/harness/terminal.h"

#include "tests/support/eventually.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <stop_token>
#include <system_error>
#include <unistd.h>

namespace mqbridge::e2e {

Terminal::Terminal() : controller_(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
  std::array<char, 64> device{};
  if (!controller_ || grantpt(controller_.get()) != 0 || unlockpt(controller_.get()) != 0 ||
      ptsname_r(controller_.get(), device.data(), device.size()) != 0)
    throw std::system_error(errno, std::generic_category(), "a pseudo-terminal");
  // No core files, no line editing.
  shell_.emplace(test::ChildSpec{
      {"sh", "-c",
       fmt::format("ulimit -c 0; exec setsid --ctty --wait bash --norc --noprofile --noediting -i "
                   "<{0} >{0} 2>{0}",
                   device.data())},
      {{"PS1", "ready> "}, {"TERM", "dumb"}, {"HISTFILE", ""}}});
  reader_ = std::jthread([this](const std::stop_token& ended) { read_on(ended); });
  if (!shows("ready> ", std::chrono::seconds(20)))
    throw std::system_error(ETIMEDOUT, std::generic_category(), "a shell: " + shown());
}

Terminal::~Terminal() {
  close();
}

void Terminal::read_on(const std::stop_token& ended) {
  std::array<char, 4096> bytes;
  while (!ended.stop_requested()) {
    constexpr int look_ms = 20;
    pollfd polled{controller_.get(), POLLIN, 0};
    if (poll(&polled, 1, look_ms) <= 0)
      continue;
    const ssize_t count = read(controller_.get(), bytes.data(), bytes.size());
    if (count <= 0)
      return; // nobody has it open any more
    const std::lock_guard lock(mutex_);
    shown_.append(bytes.data(), static_cast<std::size_t>(count));
  }
}

void Terminal::type(std::string_view keys) const {
  if (write(controller_.get(), keys.data(), keys.size()) != static_cast<ssize_t>(keys.size()))
    throw std::system_error(errno, std::generic_category(), "typing");
}

void Terminal::close() {
  reader_.request_stop();
  if (reader_.joinable())
    reader_.join();
  controller_ = rsp::UniqueFd();
}

std::string Terminal::shown() const {
  const std::lock_guard lock(mutex_);
  return shown_;
}

bool Terminal::shows(std::string_view text, std::chrono::milliseconds timeout) const {
  return test::eventually(timeout, [&] { return shown().find(text) != std::string::npos; });
}

} // namespace mqbridge::e2e
