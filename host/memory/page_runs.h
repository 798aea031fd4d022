#pragma once

#include <cstdint>
#include <vector>

namespace mqbridge {

/// Pages of 4 KiB, by page number (address / 4096), `count` of them from `first` on.
struct PageRun {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  bool operator==(const PageRun&) const = default;
};

/// In order, never overlapping, never touching: sets of pages are long, and lie in few runs.
using PageRuns = std::vector<PageRun>;

/// The set of these page numbers, which may come in any order and more than once.
PageRuns runs_of(std::vector<std::uint64_t> pages);

/// Appends their numbers, each moved by `shift`.
void add_pages(std::vector<std::uint64_t>& pages, const PageRuns& runs, std::uint64_t shift = 0);

PageRuns union_of(const PageRuns& one, const PageRuns& other);

std::uint64_t count_pages(const PageRuns& runs);

} // namespace mqbridge
