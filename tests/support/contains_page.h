#pragma once

#include "host/memory/page_runs.h"

#include <algorithm>

namespace mqbridge {

inline bool contains_page(const PageRuns& runs, std::uint64_t page) {
  return std::ranges::any_of(runs,
                             [page](const PageRun& run) { return page - run.first < run.count; });
}

} // namespace mqbridge
