#include "host/memory/pointer_hints.h"

#include <algorithm>
#include <utility>

namespace mqbridge {
namespace {

/// The most candidates that are remembered: more would be pages of a graph that nobody can read
/// ahead.
constexpr std::size_t most_candidates = std::size_t{1} << 18;

/// A page that points to at most this many others consists of nodes of lists and trees.
constexpr std::size_t list_fanout = 8;

std::size_t compared(std::size_t most) {
  return 16 * most + 256;
}

} // namespace

void PointerHints::clear() {
  waiting_.clear();
  candidates_.clear();
  known_.clear();
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
  references_.clear();
  // Neighbours often point to the same page: one look-up serves all of them.
  for (std::size_t at = 0; at < count;) {
    const auto target = found_[at] / PageStore::page_size;
    std::uint32_t words = 0;
    for (; at < count && found_[at] / PageStore::page_size == target; ++at)
      ++words;
    const auto* extent = reach.find(target);
    if (extent != nullptr && extent->data)
      references_.push_back({target, words});
  }
  for (const auto& reference : references_)
    refer(reference, references_.size() <= list_fanout);
}

void PointerHints::refer(const Reference& reference, bool list) {
  if (const auto known = known_.find(reference.page); known != known_.end()) {
    known->second.words += reference.words;
    known->second.list |= list;
    return;
  }
  if (known_.size() >= most_candidates)
    return;
  known_.emplace(reference.page, Candidate{reference.words, list});
  candidates_.push_back(reference.page);
}

std::vector<std::uint64_t> PointerHints::best(std::size_t most, bool lists_only,
                                              const PageStore& store) {
  std::vector<Reference> ranked;
  const auto oldest = candidates_.size() - std::min(candidates_.size(), compared(most));
  auto kept = candidates_.begin() + static_cast<std::ptrdiff_t>(oldest);
  for (auto at = kept; at != candidates_.end(); ++at) {
    if (store.find(*at))
      continue;
    const auto& candidate = known_[*at];
    if (candidate.list || !lists_only)
      ranked.push_back({*at, candidate.words});
    *kept++ = *at;
  }
  candidates_.erase(kept, candidates_.end());
  // Equals stay in the order of their discovery: the pages of an array are needed in that order.
  std::ranges::stable_sort(ranked, std::ranges::greater{}, &Reference::words);
  std::vector<std::uint64_t> pages;
  for (std::size_t i = 0; i < std::min(most, ranked.size()); ++i)
    pages.push_back(ranked[i].page);
  return pages;
}

} // namespace mqbridge
