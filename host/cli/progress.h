#pragma once

#include "host/dump/take_dump.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

namespace mqbridge {

/// What a dump is doing, on stderr, at most ten times a second: on a terminal one line that is
/// written over, else (--progress always) a line each. Thread-safe.
class Progress {
public:
  Progress(bool on, std::span<const TargetSpec> targets);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// The observer of take_dump: target `index` is in `phase`.
  void report(std::size_t index, std::string_view phase, std::uint64_t operations);
  void rank_done();
  /// The same, of a warning: told at once, also where progress is not shown. Of many ranks the
  /// first one's, which stands for all.
  void warn(std::size_t index, const Error& warning);

  /// Takes the line away: something else is about to be written to the terminal.
  void clear();

private:
  std::string label(std::size_t index) const;

  bool on_;
  bool terminal_;
  std::span<const TargetSpec> targets_;
  std::mutex mutex_;
  std::size_t done_ = 0;
  bool visible_ = false;
  bool warned_ = false;
  std::chrono::steady_clock::time_point next_{};
};

} // namespace mqbridge
