#pragma once

#include "host/memory/page_runs.h"
#include "host/memory/page_store.h"
#include "host/memory/platform.h"
#include "host/memory/pointer_hints.h"
#include "host/memory/prefetch_reach.h"
#include "rsp/exchange/link_estimate.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

namespace mqbridge {

/// Decides which other pages are read with missing ones. Does no I/O, and knows no time except the
/// link's: tests/memory/prefetch_simulator.h runs it on links and layouts of all kinds.
///
/// Besides the missing pages, a burst takes these, as far as guesses_allowed() permits: all of the
/// rest of the mapping, if that is little enough. Otherwise, if misses come along memory, the pages
/// ahead, up to half of the allowance; then pages to which words of pages read so far point, those
/// from lists first; then, if a round trip is long enough, the pages around the missing one in its
/// mapping (some of them also where a walk jumps about). Pages that earlier dumps needed are not
/// counted: they are known, not guessed.
class PrefetchPolicy {
public:
  /// The memory map, copied; nullptr: not known.
  void set_map(const MemoryMap* map) { reach_.set_map(map); }
  /// Guess nothing outside of the map: for machines without an operating system.
  void stay_in_map() { reach_.stay_in_map(); }
  /// From here on pointers are followed.
  void set_platform(const Platform& platform);
  /// Pages that are likely to be needed: each comes with the first missing one of its mapping.
  void set_replay(PageRuns pages) { replay_ = std::move(pages); }

  /// The state that a plan depends on, beside earlier calls.
  struct Situation {
    const PageStore& store;
    rsp::LinkEstimate link;
    std::uint64_t touched = 0; ///< pages that somebody looked at so far
    std::uint64_t bursts = 0;  ///< so far
    std::size_t room = 0;      ///< pages that the store can take
  };
  /// The pages of the next burst: `missing`, in order, and others. None of them is known.
  PageRuns plan(std::span<const std::uint64_t> missing, const Situation& now);

  /// Pages behind those of the last plan, if misses come along memory: as the walk follows it, the
  /// burst may go on with as many of them as may_go_on() says. None of them is known.
  const PageRun& later() const { return later_; }
  /// How many further pages the burst of the last plan may read, after `asked` pages in all.
  /// `now`: the same as for the plan, but with the present number of touched pages.
  std::size_t may_go_on(const Situation& now, std::uint64_t asked) const;

  /// `count` pages that are known to be needed come without a plan.
  void expect(std::uint64_t count) { expected_ += count; }
  /// These pages came into the store, because they were missing or because of a plan.
  void came(const PageRun& run);
  /// A missing page came, and could be read.
  void was_readable(std::uint64_t page) { reach_.saw_readable(page); }

  /// The map says that the page can be read. Otherwise it may be a hole, and its neighbours may be,
  /// too.
  bool certain(std::uint64_t page) const;

  /// Whether the page may be read ahead (PrefetchReach::may_read()).
  bool may_read(std::uint64_t page) const { return reach_.may_read(page); }

  /// The store is empty again.
  void clear();

private:
  class Burst;
  static bool wanders(const Situation& now);
  /// A part of memory along which misses came: the pages around the last read there.
  struct Stream {
    std::uint64_t before = 0;
    std::uint64_t behind = 0;
  };
  void guess_near(Burst& burst, std::uint64_t page, const PrefetchReach::Extent& extent,
                  const Situation& now);
  PageRun pages_behind(const Burst& burst, std::uint64_t page, const PrefetchReach::Extent& extent,
                       const Situation& now) const;
  void take_replay(Burst& burst, std::uint64_t page);
  void take_pointed(Burst& burst, bool lists_only, const PageStore& store);

  PrefetchReach reach_;
  PointerHints hints_;
  PageRuns replay_;
  std::optional<PointerShape> shape_;  ///< nullopt: the platform is not known yet
  std::array<Stream, 4> streams_ = {}; ///< the youngest first
  std::uint64_t fetched_ = 0;
  std::uint64_t expected_ = 0; ///< pages fetched or planned because they were known to be needed
  double carried_ = 0;         ///< ReadSoFar::carried
  double carried_before_ = 0;  ///< carried_ without the last plan's burst
  PageRun later_;
};

} // namespace mqbridge
