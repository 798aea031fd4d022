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
  /// long list of candidates only the youngest are compared. `lists_only`: only what pages point to
  /// that point to few places, as the nodes of a list do, so that it is hardly in vain.
  std::vector<std::uint64_t> best(std::size_t most, bool lists_only, const PageStore& store);

  void clear();

private:
  /// Words of one page that point to another one.
  struct Reference {
    std::uint64_t page = 0;
    std::uint32_t words = 0;
  };
  struct Candidate {
    std::uint32_t words = 0; ///< that point there
    bool list = false;       ///< some of them in pages that point to few places
  };

  void scan_page(const PageStore::Page& page, const PrefetchReach& reach,
                 const PointerShape& shape);
  void refer(const Reference& reference, bool list);

  std::vector<std::uint64_t> waiting_;
  std::vector<std::uint64_t> candidates_; ///< in the order of their discovery; some came meanwhile
  std::unordered_map<std::uint64_t, Candidate> known_; ///< all that ever were candidates, by page
  std::vector<std::uint64_t> found_;                   ///< scratch
  std::vector<Reference> references_;                  ///< scratch
};

} // namespace mqbridge
