#pragma once

#include "host/cli/arguments/commands.h"
#include "host/cli/terminal/output.h"
#include "host/collect/frames.h"
#include "host/collect/lifeline.h"
#include "host/document/json_report.h"
#include "host/document/redact.h"

#include <functional>
#include <optional>
#include <string>

namespace mqbridge {

/// The lines of NDJSON while a dump is taken. Each is written at once: to the output, or, in a
/// collector, in frames to the collecting program, which applies the filters of recorders' queues
/// (FilterOf) itself. Does nothing for formats that need all ranks.
/// Nobody else may use the output meanwhile. One thread at a time.
class RankLines {
public:
  /// A collector's introduces itself at once. `lost` is called when nobody reads the output any
  /// more.
  RankLines(Format format, JsonOptions json, Output& output, std::function<void()> lost);

  /// Its lines are redacted from now on. `redactor` outlives it.
  void redact_with(Redactor& redactor) { redactor_ = &redactor; }

  void begin(const Dump& before);
  void rank(const RankDump& rank);
  void end(const Dump& dump);

private:
  Sink sink();

  const bool on_;
  const JsonOptions json_;
  Output& output_;
  Filters filters_;
  Redactor* redactor_ = nullptr;      ///< null: nothing is left out
  std::optional<FrameWriter> frames_; ///< of a collector
  std::optional<Lifeline> lifeline_;
};

} // namespace mqbridge
