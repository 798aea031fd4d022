#include "host/cli/progress.h"

#include "host/cli/execute.h"
#include "host/report/printable.h"

#include <fmt/format.h>
#include <unistd.h>
#include <utility>

namespace mqbridge {

// Progress that cannot be written is no loss; waiting until it can be would be: a target is held
// meanwhile.

Progress::Progress(bool on, std::span<const TargetSpec> targets)
    : on_(on), terminal_(::isatty(STDERR_FILENO) == 1), targets_(targets) {}

std::string Progress::label(std::size_t index) const {
  if (index >= targets_.size())
    return fmt::format("target {}", index);
  const TargetSpec& target = targets_[index];
  if (target.rank)
    return fmt::format("rank {}", *target.rank);
  constexpr std::size_t widest = 40;
  return shortened(printable(target.text()), widest);
}

void Progress::report(std::size_t index, std::string_view phase, std::uint64_t operations) {
  using namespace std::chrono_literals;
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (!on_ || now < next_)
    return;
  next_ = now + 100ms;
  std::string text;
  if (targets_.size() > 1)
    text = fmt::format("{} of {} done; ", done_, targets_.size());
  text += fmt::format("{}: {}", label(index), printable(phase));
  if (operations > 0)
    text += fmt::format(", {} operations", operations);
  const bool written = try_on_stderr(terminal_ ? "\r\033[K" + text : text + "\n");
  visible_ = terminal_ && (written || visible_);
}

void Progress::warn(std::size_t index, const Error& warning) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(warned_, true))
    return;
  try_on_stderr(fmt::format("{}mqbridge: {}: {}: {}\nfix: {}\n", visible_ ? "\r\033[K" : "",
                            warning.code, label(index), printable_lines(warning.message),
                            printable_lines(warning.hint)));
  visible_ = false;
}

void Progress::rank_done() {
  const std::lock_guard lock(mutex_);
  ++done_;
}

void Progress::clear() {
  const std::lock_guard lock(mutex_);
  if (visible_)
    try_on_stderr("\r\033[K");
  visible_ = false;
}

} // namespace mqbridge
