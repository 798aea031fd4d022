#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <string_view>

namespace mqbridge {

/// A line on stderr that tells what is being done: on a terminal one that is written over, else a
/// line each. It never waits: neither for a terminal that was stopped (Ctrl-S), nor for another
/// thread that is writing. What cannot be written is left out. Thread-safe.
class ProgressLine {
public:
  explicit ProgressLine(bool on);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  bool on() const { return on_; }
  bool on_terminal() const { return terminal_; }
  /// Columns of the terminal; 100 where it is none.
  std::size_t width() const;
  /// Whether a tenth of a second has passed since this was last true. Cheap.
  bool due();

  /// `text` is printable.
  void show(std::string_view text);
  /// Whole lines, told also where the line is not shown. False: not now, another thread is writing.
  bool print(std::string_view lines);
  /// Takes the line away: something else is about to be written to the terminal.
  void clear();
  /// The same, and nothing is shown until the lock ends. It may own nothing: another thread has
  /// paused it, and takes its time.
  std::unique_lock<std::timed_mutex> pause();

private:
  void take_away();

  const bool on_;
  const bool terminal_;
  std::atomic<std::chrono::steady_clock::rep> next_{};
  std::timed_mutex mutex_; ///< of the terminal
  bool visible_ = false;
};

} // namespace mqbridge
