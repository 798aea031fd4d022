#pragma once

#include "host/cli/terminal/progress_line.h"
#include "host/dump/take_dump.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace mqbridge {

/// "looking again in 2 s"
std::string again_text(std::chrono::milliseconds pause);

/// The progress of a dump, as a ProgressLine: how many targets are reached and done, and which one
/// has been in its present phase for the longest time. Thread-safe; no call waits for a terminal or
/// for I/O.
class Progress {
public:
  using Clock = std::chrono::steady_clock;

  /// `targets` outlive it.
  Progress(bool on, std::span<const TargetSpec> targets);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// The observer of take_dump: target `index` is in `phase`.
  void report(std::size_t index, std::string_view phase, std::uint64_t operations);
  void ended(std::size_t index, RankStatus status);
  /// The same for a warning. It is shown at once, even if progress is not shown. Of many ranks'
  /// warnings only the first one is shown.
  void warn(std::size_t index, const Error& warning);

  /// Nothing is done for a while; `text` says why.
  void rest(std::string_view text);
  /// Work begins again, with so many of the targets.
  void restart(std::size_t targets);

  /// As ProgressLine.
  std::unique_lock<std::timed_mutex> pause() { return line_.pause(); }

private:
  /// A target that is being dumped.
  struct Active {
    std::string phase;
    Clock::time_point since; ///< when the phase began
    std::uint64_t operations = 0;
  };

  std::string label(std::size_t index) const;
  std::string text() const;
  std::string counts() const;
  std::string bar() const;
  std::optional<std::size_t> slowest() const;
  void tick(const std::stop_token& stop);

  std::span<const TargetSpec> targets_;
  ProgressLine line_;
  mutable std::mutex mutex_; ///< guards the members below; not held while writing to the terminal
  std::map<std::size_t, Active> active_;
  std::vector<bool> was_reached_; ///< by index
  std::size_t total_;             ///< targets to be done
  std::size_t reached_ = 0;
  std::size_t done_ = 0;
  std::size_t failed_ = 0;
  bool warned_ = false;
  std::jthread ticker_; ///< the last member: it ends first
};

} // namespace mqbridge
