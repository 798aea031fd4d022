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

/// Decides what else is read when pages are missing. Does no I/O, and knows no time but the link's:
/// tests/memory/prefetch_simulator.h runs it on links and layouts of all kinds.
///
/// A burst takes beside the missing pages, as far as guesses_allowed() goes: all of the rest of the
/// mapping, if that is within it; else pages ahead, up to half, where misses come along memory;
/// pages that words of the pages read so far point to, those from lists first; and, if a round trip
/// is long enough, what comes behind and before the missing page in its mapping: some of it also
/// where a walk goes from anywhere to anywhere. Pages that earlier dumps needed do not count: they
/// are known, not guessed.
class PrefetchPolicy {
public:
  /// nullptr: nothing is known. Copied.
  void set_map(const MemoryMap* map) { reach_.set_map(map); }
  /// No guesses where the map says nothing: for machines without an operating system.
  void stay_in_map() { reach_.stay_in_map(); }
  /// Pointers are followed from here on.
  void set_platform(const Platform& platform);
  /// Pages that are likely to be needed: each comes with the first missing one of its mapping.
  void set_replay(PageRuns pages) { replay_ = std::move(pages); }

  /// What a plan is made of besides what came before.
  struct Situation {
    const PageStore& store;
    rsp::LinkEstimate link;
    std::uint64_t touched = 0; ///< pages that somebody looked at so far
    std::uint64_t bursts = 0;  ///< so far
    std::size_t room = 0;      ///< pages that the store can take
  };
  /// The pages of the next burst: `missing`, of which nothing is known, in order, and more of which
  /// nothing is known.
  PageRuns plan(std::span<const std::uint64_t> missing, const Situation& now);

  /// Pages behind those of the last plan, where misses come along memory: of these the burst may go
  /// on with what may_go_on() says, as the walk follows it. Nothing is known of any of them.
  const PageRun& later() const { return later_; }
  /// How many pages more may be read now, in the burst of the last plan, of which `asked` pages
  /// were asked for. `now`: as it was for the plan, but for what was touched since.
  std::size_t may_go_on(const Situation& now, std::uint64_t asked) const;

  /// `count` pages come that are known to be needed, without a plan.
  void expect(std::uint64_t count) { expected_ += count; }
  /// These pages came into the store, because they were missing or because of a plan.
  void came(const PageRun& run);
  /// A missing page came, and could be read.
  void was_readable(std::uint64_t page) { reach_.saw_readable(page); }

  /// The map says that the page can be read. Else it may be a hole, and its neighbours as well.
  bool certain(std::uint64_t page) const;

  /// Nothing speaks against reading the page ahead (PrefetchReach::may_read()).
  bool may_read(std::uint64_t page) const { return reach_.may_read(page); }

  /// The store is empty again.
  void clear();

private:
  class Burst;
  static bool wanders(const Situation& now);
  /// A piece of memory that misses came along: the pages around what was read there last.
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
  std::uint64_t expected_ = 0; ///< of those fetched or planned: not guessed
  double carried_ = 0;         ///< ReadSoFar::carried
  double carried_before_ = 0;  ///< without the last plan's burst
  PageRun later_;
};

} // namespace mqbridge
