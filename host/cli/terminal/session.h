#pragma once

#include "host/cli/commands/execute.h"
#include "host/cli/terminal/output.h"
#include "host/cli/terminal/signals.h"
#include "rsp/packet/trace.h"

#include <filesystem>
#include <memory>
#include <string>

namespace mqbridge {

/// The surroundings of every command that touches a target: output and trace, opened before any
/// target is stopped, and signals.
class Session {
public:
  /// `trace` empty: none. Errors: output.open, and those of rsp::Trace::open.
  static Result<std::unique_ptr<Session>> open(const std::string& output,
                                               const std::filesystem::path& trace);

  /// `options`, with the values of installation and session filled in. Valid as long as the
  /// session.
  DumpOptions complete(DumpOptions options, const Installation& installation);

  /// 130, 143 or 129 if a signal asked for the end, else `status`.
  int status_or_interrupted(int status) const;

  /// Finishes output and trace. Returns `status`, or 5 after an error. The error is printed, unless
  /// it is only that the reader of a pipe has gone.
  int close(int status);

  Output output;
  SignalWatch signals;

private:
  Session(Output opened, std::unique_ptr<rsp::Trace> trace);
  void abandon_output() const;

  std::unique_ptr<rsp::Trace> trace_;
};

} // namespace mqbridge
