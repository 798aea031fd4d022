#include "host/memory/pointer_hints.h"

#include <algorithm>
#include <utility>

namespace mqbridge {
namespace {

/// More are not remembered: they would be pages of a graph that nobody can read ahead of.
constexpr std::size_t most_candidates = std::size_t{1} << 18;

std::size_t compared(std::size_t most) {
  return 16 * most + 256;
}

} // namespace

void PointerHints::clear() {
  waiting_.clear();
  candidates_.clear();
  words_.clear();
}

void PointerHints::scan(std::size_t most, const PageStore& store, const PrefetchReach& reach,
                        const PointerShape& shape) {
  for (; most > 0 && !waiting_.empty(); --most) {
    const auto page = store.find(waiting_.back());
    waiting_.pop_back();
    if (page && page->readable == PageStore::all_lines)
      scan_page(*page, reach, shape);
  }
}

void PointerHints::scan_page(const PageStore::Page& page, const PrefetchReach& reach,
                             const PointerShape& shape) {
  found_.resize(most_pointers(PageStore::page_size, shape));
  const auto count = scan_pointers({page.bytes, PageStore::page_size}, shape, found_);
  // Neighbours often point to the same page: one look-up for all of them.
  for (std::size_t at = 0; at < count;) {
    const auto target = found_[at] / PageStore::page_size;
    std::uint32_t words = 0;
    for (; at < count && found_[at] / PageStore::page_size == target; ++at)
      ++words;
    refer(target, words, reach);
  }
}

void PointerHints::refer(std::uint64_t page, std::uint32_t words, const PrefetchReach& reach) {
  if (const auto known = words_.find(page); known != words_.end()) {
    known->second += words;
    return;
  }
  const auto* extent = reach.find(page);
  if (extent == nullptr || !extent->data || words_.size() >= most_candidates)
    return;
  words_.emplace(page, words);
  candidates_.push_back(page);
}

std::vector<std::uint64_t> PointerHints::best(std::size_t most, const PageStore& store) {
  std::vector<std::pair<std::uint32_t, std::uint64_t>> ranked;
  const auto oldest = candidates_.size() - std::min(candidates_.size(), compared(most));
  auto kept = candidates_.begin() + static_cast<std::ptrdiff_t>(oldest);
  for (auto at = kept; at != candidates_.end(); ++at) {
    if (store.find(*at))
      continue;
    ranked.emplace_back(words_[*at], *at);
    *kept++ = *at;
  }
  candidates_.erase(kept, candidates_.end());
  const auto count = std::min(most, ranked.size());
  std::ranges::partial_sort(ranked, ranked.begin() + static_cast<std::ptrdiff_t>(count),
                            std::ranges::greater{});
  std::vector<std::uint64_t> pages;
  pages.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    pages.push_back(ranked[i].second);
  return pages;
}

} // namespace mqbridge
