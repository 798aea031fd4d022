#pragma once

#include "host/cli/execute.h"
#include "host/cli/output.h"
#include "host/cli/signals.h"
#include "rsp/packet/trace.h"

#include <filesystem>
#include <memory>
#include <string>

namespace mqbridge {

/// What every command that touches a target needs around it: the output and the trace, opened
/// before any target is stopped, and the signals.
class Session {
public:
  /// `trace` empty: none. Errors: output.open, and those of rsp::Trace::open.
  static Result<std::unique_ptr<Session>> open(const std::string& output,
                                               const std::filesystem::path& trace);

  /// `options` with what the installation and the session know. Valid as long as the session.
  DumpOptions complete(DumpOptions options, const Installation& installation);

  /// 130, 143 or 129 where a signal asked for the end, else `status`.
  int status_or_interrupted(int status) const;

  /// Finishes output and trace. Returns `status`, or 5 after an error, which is printed unless only
  /// the reader of a pipe has gone.
  int close(int status);

  Output output;
  SignalWatch signals;

private:
  Session(Output opened, std::unique_ptr<rsp::Trace> trace);
  void abandon_output() const;

  std::unique_ptr<rsp::Trace> trace_;
};

} // namespace mqbridge
