#include "host/cli/terminal/progress_line.h"

#include "host/cli/commands/execute.h"
#include "host/report/fitted_text.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace mqbridge {
namespace {

constexpr std::string_view erase_line = "\r\033[K";

} // namespace

ProgressLine::ProgressLine(bool on) : on_(on), terminal_(::isatty(STDERR_FILENO) == 1) {}

std::size_t ProgressLine::width() const {
  winsize size{};
  if (terminal_ && ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  return 100;
}

bool ProgressLine::due() {
  using namespace std::chrono_literals;
  constexpr std::chrono::steady_clock::duration pause = 100ms;
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  auto next = next_.load();
  return on_ && now >= next && next_.compare_exchange_strong(next, now + pause.count());
}

void ProgressLine::show(std::string_view text) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || !on_)
    return;
  // The last column stays free: a terminal may go on to the next line behind it.
  const bool written = try_on_stderr(
      terminal_ ? std::string(erase_line) + clipped(text, width() - 1) : std::string(text) + "\n");
  visible_ = terminal_ && (written || visible_);
}

bool ProgressLine::print(std::string_view lines) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock)
    return false;
  take_away();
  return try_on_stderr(lines);
}

void ProgressLine::clear() {
  pause();
}

std::unique_lock<std::timed_mutex> ProgressLine::pause() {
  std::unique_lock lock(mutex_, std::chrono::milliseconds(50)); // a line is written in less
  if (lock)
    take_away();
  return lock;
}

void ProgressLine::take_away() {
  if (visible_)
    try_on_stderr(erase_line);
  visible_ = false;
}

} // namespace mqbridge
