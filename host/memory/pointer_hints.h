#pragma once

#include "host/memory/page_store.h"
#include "host/memory/pointer_scan.h"
#include "host/memory/prefetch_reach.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace mqbridge {

/// Finds pages to which words of the pages read so far point, and that are not in the store yet.
/// Pages are scanned when somebody asks, not when they come: a walk along dense memory never pays
/// for it.
class PointerHints {
public:
  /// A page came into the store: it will be scanned once. The youngest waiting pages are scanned
  /// first.
  void add(std::uint64_t page) { waiting_.push_back(page); }

  /// Scans at most `most` of the waiting pages.
  void scan(std::size_t most, const PageStore& store, const PrefetchReach& reach,
            const PointerShape& shape);

  /// At most `most` pages that are not in the store, in the order of how many words point to them.
  /// Of a long list of candidates only the youngest are compared. `lists_only`: only pages to which
  /// pages with few targets point, such as nodes of a list: these are hardly ever read in vain.
  std::vector<std::uint64_t> best(std::size_t most, bool lists_only, const PageStore& store);

  void clear();

private:
  /// Words of one page that point to another one.
  struct Reference {
    std::uint64_t page = 0;
    std::uint32_t words = 0;
  };
  struct Candidate {
    std::uint32_t words = 0; ///< number of words that point there
    bool list = false;       ///< some of them in pages that point to few places
  };

  void scan_page(const PageStore::Page& page, const PrefetchReach& reach,
                 const PointerShape& shape);
  void refer(const Reference& reference, bool list);

  std::vector<std::uint64_t> waiting_;
  std::vector<std::uint64_t> candidates_; ///< in the order of their discovery; some came meanwhile
  std::unordered_map<std::uint64_t, Candidate> known_; ///< all pages that ever were candidates
  std::vector<std::uint64_t> found_;                   ///< scratch
  std::vector<Reference> references_;                  ///< scratch
};

} // namespace mqbridge
