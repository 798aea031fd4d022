#pragma once

#include "tests/support/child_process.h"
#include "tests/support/temp_directory.h"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge::e2e {

/// Where a phase of a dump begins, in seconds since the start of its trace.
struct PhaseMark {
  std::string phase;
  double seconds;
};

/// Of the whole lines of a trace, in order, with the time of its last line as the phase "end".
std::vector<PhaseMark> phase_marks(std::string_view trace);

/// mqbridge with a trace of what it does, so that a test can meet it in a phase, and say afterwards
/// which one it met.
class TracedRun {
public:
  /// `arguments`: as for mqbridge_command(), without --trace.
  explicit TracedRun(std::vector<std::string> arguments);

  /// Whether that phase has begun for the `occurrence`th time, from 1 on: of several ranks, each
  /// has its own. False: mqbridge ended before, or took longer than `timeout`. Looks often: what
  /// follows is to meet a short phase.
  bool await_phase(std::string_view phase, int occurrence, std::chrono::milliseconds timeout);

  std::string trace() const;
  /// The last phase that has begun; "start" before the first one.
  std::string phase() const;
  /// Whether a stub has been sent anything.
  bool has_spoken() const;

  test::ChildProcess& process() { return process_; }

private:
  std::string path() const { return (directory_ / "trace").string(); }
  std::vector<std::string> with_trace(std::vector<std::string> arguments) const;

  test::TempDirectory directory_;
  test::ChildProcess process_;
};

} // namespace mqbridge::e2e
