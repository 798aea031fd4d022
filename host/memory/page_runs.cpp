#include "host/memory/page_runs.h"

#include <algorithm>
#include <numeric>

namespace mqbridge {

PageRuns runs_of(std::vector<std::uint64_t> pages) {
  std::ranges::sort(pages);
  PageRuns runs;
  for (const auto page : pages) {
    if (!runs.empty() && page - runs.back().first < runs.back().count)
      continue;
    if (!runs.empty() && page - runs.back().first == runs.back().count)
      ++runs.back().count;
    else
      runs.push_back({page, 1});
  }
  return runs;
}

std::uint64_t count_pages(const PageRuns& runs) {
  return std::accumulate(runs.begin(), runs.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const PageRun& run) { return sum + run.count; });
}

} // namespace mqbridge
