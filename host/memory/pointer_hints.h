#pragma once

#include "host/memory/page_store.h"
#include "host/memory/pointer_scan.h"
#include "host/memory/prefetch_reach.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace mqbridge {

/// Pages that words of pages read so far point to, and that are not in the store yet. Pages are
/// looked through when somebody wants to know, not when they come: a walk that runs along dense
/// memory never pays for it.
class PointerHints {
public:
  /// A page that came into the store, to be looked through once. Of those that wait the last ones
  /// are looked through first.
  void add(std::uint64_t page) { waiting_.push_back(page); }

  /// Looks through at most `most` pages that wait.
  void scan(std::size_t most, const PageStore& store, const PrefetchReach& reach,
            const PointerShape& shape);

  /// At most `most` pages that are not in the store, those that most words point to first. Of a
  /// long list of candidates only the youngest are compared.
  std::vector<std::uint64_t> best(std::size_t most, const PageStore& store);

  void clear();

private:
  void scan_page(const PageStore::Page& page, const PrefetchReach& reach,
                 const PointerShape& shape);
  void refer(std::uint64_t page, std::uint32_t words, const PrefetchReach& reach);

  std::vector<std::uint64_t> waiting_;
  std::vector<std::uint64_t> candidates_; ///< in the order of their discovery; some came meanwhile
  std::unordered_map<std::uint64_t, std::uint32_t> words_; ///< that point to a candidate, by page
  std::vector<std::uint64_t> found_;                       ///< scratch
};

} // namespace mqbridge
