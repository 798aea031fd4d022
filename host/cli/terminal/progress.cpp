#include "host/cli/terminal/progress.h"

#include "host/report/fitted_text.h"
#include "rsp/seconds.h"

#include <algorithm>
#include <condition_variable>
#include <fmt/format.h>
#include <system_error>

namespace mqbridge {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view reaching = "connect"; ///< the phase before a target is reached

} // namespace

std::string again_text(std::chrono::milliseconds pause) {
  return fmt::format("looking again in {:g} s", in_seconds(pause));
}

Progress::Progress(bool on, std::span<const TargetSpec> targets)
    : targets_(targets), line_(on), was_reached_(targets.size(), false), total_(targets.size()) {
  if (!on || !line_.on_terminal())
    return;
  try {
    ticker_ = std::jthread([this](const std::stop_token& stop) { tick(stop); });
  } catch (const std::system_error&) {
    // No thread is to be had: the line is as old as the last report.
  }
}

Progress::~Progress() = default;

std::string Progress::label(std::size_t index) const {
  if (index >= targets_.size())
    return fmt::format("target {}", index);
  const TargetSpec& target = targets_[index];
  constexpr std::size_t widest = 40;
  auto text = shortened(printable(target.text()), widest);
  if (!target.rank)
    return text;
  return targets_.size() == 1 ? fmt::format("rank {}", *target.rank)
                              : fmt::format("rank {} ({})", *target.rank, text);
}

void Progress::report(std::size_t index, std::string_view phase, std::uint64_t operations) {
  std::string shown;
  {
    const std::lock_guard lock(mutex_);
    Active& active = active_[index];
    if (active.phase != phase)
      active = {std::string(phase), Clock::now(), 0};
    active.operations = operations;
    if (phase != reaching && index < was_reached_.size() && !was_reached_[index]) {
      was_reached_[index] = true;
      ++reached_;
    }
    if (!line_.due())
      return;
    shown = text();
  }
  line_.show(shown);
}

void Progress::ended(std::size_t index, RankStatus status) {
  std::string shown;
  {
    const std::lock_guard lock(mutex_);
    active_.erase(index);
    ++done_;
    failed_ += status == RankStatus::failed ? 1 : 0;
    if (!line_.due() && done_ < total_)
      return;
    shown = text();
  }
  line_.show(shown);
}

void Progress::rest(std::string_view text) {
  {
    const std::lock_guard lock(mutex_);
    active_.clear();
  }
  line_.show(text);
}

void Progress::restart(std::size_t targets) {
  const std::lock_guard lock(mutex_);
  was_reached_.assign(targets_.size(), false);
  total_ = targets;
  reached_ = done_ = failed_ = 0;
}

void Progress::warn(std::size_t index, const Error& warning) {
  const std::lock_guard lock(mutex_);
  if (!warned_)
    warned_ =
        line_.print(fmt::format("mqbridge: {}: {}: {}\nfix: {}\n", warning.code, label(index),
                                printable_lines(warning.message), printable_lines(warning.hint)));
}

std::optional<std::size_t> Progress::slowest() const {
  const auto found =
      std::min_element(active_.begin(), active_.end(), [](const auto& one, const auto& other) {
        return one.second.since < other.second.since;
      });
  return found == active_.end() ? std::nullopt : std::optional(found->first);
}

std::string Progress::bar() const {
  constexpr std::size_t columns = 20;
  constexpr std::size_t narrow = 80;
  if (!line_.on_terminal() || line_.width() < narrow)
    return {};
  const auto full = std::min(columns, columns * done_ / total_);
  return fmt::format("[{}{}] ", std::string(full, '='), std::string(columns - full, ' '));
}

std::string Progress::counts() const {
  auto text = fmt::format("{} of {} done", done_, total_);
  if (failed_ > 0)
    text += fmt::format(" ({} failed)", failed_);
  return text + fmt::format(", {} reached", reached_);
}

std::string Progress::text() const {
  std::string text = total_ > 1 ? bar() + counts() : "";
  const auto index = slowest();
  if (!index)
    return text;
  const Active& active = active_.at(*index);
  text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", label(*index), printable(active.phase));
  const auto elapsed = Clock::now() - active.since;
  if (elapsed >= 1s)
    text += fmt::format(" {:.0f} s", in_seconds(elapsed));
  if (active.operations > 0)
    text += fmt::format(", {} operations", active.operations);
  return text;
}

/// The user wants to know about a silent target: so the line is updated without reports, too.
void Progress::tick(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any sleep;
  std::unique_lock lock(mutex);
  while (!stop.stop_requested()) {
    sleep.wait_for(lock, stop, 500ms, [] { return false; });
    std::string shown;
    {
      const std::lock_guard state(mutex_);
      if (!active_.empty() && line_.due())
        shown = text();
    }
    if (!shown.empty())
      line_.show(shown);
  }
}

} // namespace mqbridge
