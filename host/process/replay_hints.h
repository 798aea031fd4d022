#pragma once

#include "host/memory/page_runs.h"

#include <string_view>

namespace mqbridge {

/// Hints about the pages that earlier dumps looked at. They may be stale or wrong: that costs some
/// over-read, and never a wrong answer. Thread-safe; must not block on the target.
class ReplayHints {
public:
  virtual ~ReplayHints() = default;

  /// The pages of the last dump of this process (Target::identity()). Empty: not known.
  virtual PageRuns process_pages(std::string_view identity) = 0;

  /// Of any process that loads the image of this build-id: pages relative to its load bias.
  virtual PageRuns image_pages(std::string_view build_id) = 0;
};

} // namespace mqbridge
