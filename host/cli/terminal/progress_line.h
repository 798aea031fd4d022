#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <string_view>

namespace mqbridge {

/// A line on stderr about the present work: on a terminal it is overwritten, elsewhere each text is
/// a new line. It never waits: neither for a terminal that was stopped (Ctrl-S), nor for another
/// thread that is writing. Text that cannot be written is dropped. Thread-safe.
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
  /// Whole lines, printed even where the line is not shown. False: they were not printed, since
  /// another thread is writing.
  bool print(std::string_view lines);
  /// Clears the line, so that something else can be written to the terminal.
  void clear();
  /// The same, and nothing is shown until the lock ends. The lock may own nothing, if another
  /// thread has paused the line for long.
  std::unique_lock<std::timed_mutex> pause();

private:
  void take_away();

  const bool on_;
  const bool terminal_;
  std::atomic<std::chrono::steady_clock::rep> next_{};
  std::timed_mutex mutex_; ///< held by the thread that writes to the terminal
  bool visible_ = false;
};

} // namespace mqbridge
