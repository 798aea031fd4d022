#include "host/memory/page_runs.h"

#include <algorithm>
#include <numeric>
#include <utility>

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

void add_pages(std::vector<std::uint64_t>& pages, const PageRuns& runs, std::uint64_t shift) {
  for (const auto& run : runs)
    for (std::uint64_t i = 0; i < run.count; ++i)
      pages.push_back(shift + run.first + i);
}

PageRuns union_of(const PageRuns& one, const PageRuns& other) {
  std::vector<std::uint64_t> pages;
  add_pages(pages, one);
  add_pages(pages, other);
  return runs_of(std::move(pages));
}

std::uint64_t count_pages(const PageRuns& runs) {
  return std::accumulate(runs.begin(), runs.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const PageRun& run) { return sum + run.count; });
}

} // namespace mqbridge
