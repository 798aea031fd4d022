#pragma once

#include "host/collect/frames.h"

#include <functional>
#include <sys/types.h>
#include <thread>

namespace mqbridge {

/// A collector's connection to the collecting program. It says again and again that the collector
/// is alive, and notices when nobody listens any more. Launchers close the stdin of their programs
/// when they or their owners end, in whatever way; not all of them kill the programs.
class Lifeline {
public:
  /// `lost` is called once, on another thread, when the end of stdin has come.
  Lifeline(FrameWriter& frames, std::function<void()> lost);
  Lifeline(const Lifeline&) = delete;
  Lifeline& operator=(const Lifeline&) = delete;

private:
  void watch(const std::stop_token& ended, FrameWriter& frames) const;

  std::function<void()> lost_;
  std::jthread thread_;
};

} // namespace mqbridge
