#pragma once

#include "host/memory/cache_mode.h"
#include "host/memory/memory.h"
#include "host/memory/page_runs.h"
#include "host/memory/page_store.h"
#include "host/memory/prefetch_policy.h"
#include "rsp/exchange/link_estimate.h"

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <vector>

namespace mqbridge {

/// Answers reads from the page store, and reads missing pages in as few bursts as it can.
///
/// The policy decides which other pages a burst brings. Pages that were asked for are exact; a
/// guessed page that cannot be read becomes a hole, which the store remembers, and no failure.
/// Whole pages are in the store as soon as they have come, so that the store's onlooker (the walk)
/// goes on while the rest of the burst is under way. A burst along memory goes on for as long as
/// the onlooker follows it.
///
/// Valid for one stop: call clear() when the target may have run. A full store is emptied: a walk
/// through more memory than it holds is slow, not wrong.
class PageCache final : public Memory {
public:
  struct Options {
    CacheMode mode = CacheMode::full; ///< none: as page; a caller that wants no cache makes none
    /// Whether to read ahead where the map does not tell. Set to false for a machine without an
    /// operating system: reading a device's registers can change what it does, and memory need not
    /// begin where a page does.
    bool explore = true;
  };
  struct Statistics {
    std::uint64_t bursts = 0;     ///< calls of the layer below
    std::uint64_t lines_read = 0; ///< lines asked for below, holes included
    std::uint64_t bytes_read = 0; ///< that came
  };

  /// `below` and `store` are not owned and outlive the cache; nobody else fills the store.
  PageCache(Memory& below, PageStore& store, Options options);
  PageCache(Memory& below, PageStore& store) : PageCache(below, store, Options()) {}

  /// The memory map of the target; copied. nullptr: not known.
  void set_map(const MemoryMap* map) { policy_.set_map(map); }
  /// Gives the estimate of the link before each burst. Without it nothing is read ahead.
  void set_link(std::function<rsp::LinkEstimate()> link) { link_ = std::move(link); }
  /// From now on the cache follows pointers.
  void set_platform(const Platform& platform) { policy_.set_platform(platform); }
  /// Pages that are likely to be needed: each comes with the first miss in its mapping.
  void set_replay(PageRuns pages) { policy_.set_replay(std::move(pages)); }

  /// All missing pages of all ranges come in one burst.
  Result<void> read_ranges(std::span<MemoryRange> ranges) override;

  /// Reads those of these pages that are missing, in one burst. It does not look for holes, and
  /// leaves out pages that must not be read ahead (PrefetchReach::may_read()). Does nothing in mode
  /// page, and where a link is so slow that pages are too much.
  Result<void> preload(const PageRuns& pages);

  void clear();

  const Statistics& statistics() const { return statistics_; }
  /// The lines asked for below, as a number of whole pages, rounded up.
  std::uint64_t pages_read() const;

private:
  struct Piece;
  class Arrivals;
  Result<void> load(std::span<const MemoryRange> ranges);
  Result<void> load_pages(std::span<const std::uint64_t> missing);
  Result<void> load_lines(std::span<const MemoryRange> ranges, std::size_t unit);
  Result<void> fetch_runs(const PageRuns& runs, const PageRun& later = {});
  Result<void> fetch(std::span<const Piece> pieces);
  Result<void> fetch_watched(std::vector<Piece>& pieces, const PageRun& later);
  void take(const Piece& piece, std::size_t read);
  PrefetchPolicy::Situation situation() const;
  rsp::LinkEstimate link() const { return link_ ? link_() : rsp::LinkEstimate(); }
  std::size_t copy(const MemoryRange& range);
  Result<void> read_past(MemoryRange& range);

  Memory& below_;
  PageStore& store_;
  Options options_;
  std::function<rsp::LinkEstimate()> link_;
  PrefetchPolicy policy_;
  Statistics statistics_;
  std::set<std::uint64_t> ragged_; ///< addresses of lines that can be read only at their start
};

} // namespace mqbridge
