#pragma once

#include "host/cli/commands.h"
#include "host/cli/output.h"
#include "host/collect/frames.h"
#include "host/collect/lifeline.h"
#include "host/document/json_report.h"

#include <functional>
#include <optional>
#include <string>

namespace mqbridge {

/// The lines of NDJSON while a dump is taken, each handed over at once: to the output, or in frames
/// to who collects. Nothing for formats that need all ranks. The output is used by nobody else
/// meanwhile. One thread at a time.
class RankLines {
public:
  /// Of a collector, it says at once who speaks. `lost`: nobody listens to it any more.
  RankLines(Format format, JsonOptions json, Output& output, std::function<void()> lost);

  void begin(const Dump& before);
  void rank(const RankDump& rank);
  void end(const Dump& dump);

private:
  Sink sink();

  const bool on_;
  const JsonOptions json_;
  Output& output_;
  std::optional<FrameWriter> frames_; ///< of a collector
  std::optional<Lifeline> lifeline_;
};

} // namespace mqbridge
