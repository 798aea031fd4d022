#include "host/memory/prefetch_policy.h"

#include "host/memory/prefetch_budget.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

namespace mqbridge {
namespace {

using Extent = PrefetchReach::Extent;

/// Pages that are scanned for each page that may be read by what the scan finds.
constexpr std::size_t scans_for_each = 4;
/// Known pages that are passed over on the way to a page that may be read.
constexpr std::size_t steps_for_each = 16;
constexpr std::size_t steps_at_least = 256;
/// If mappings are not known, pages of earlier dumps come with a miss that is this close.
constexpr std::uint64_t replay_nearby = 4096;
/// The most pages with which a burst may go on, for each page of its own; and the least.
constexpr std::uint64_t later_for_each = 8;
constexpr std::uint64_t later_at_least = 1024;
/// A burst goes on only after so many pages were looked at: a short walk would gain nothing, and by
/// then the link has shown its speed.
constexpr std::uint64_t goes_on_after = 256;
/// A miss this many pages behind the last read belongs to the same stream.
constexpr std::uint64_t stream_gap = 2;
/// After so many bursts, a walk that has looked at fewer pages for each of them than this wanders.
constexpr std::uint64_t wanders_after = 16;
constexpr std::uint64_t wanders_below = 4;
/// The part of the guesses that a wandering walk may take beside missing pages: by measurement, in
/// the simulator.
constexpr std::size_t wanderers_share = 8;

} // namespace

/// Whether the walk jumps about, for example along a list whose nodes lie anywhere. Then there is
/// only one pointer to follow. Pages that nobody asked for bring other pieces of the list, each
/// with a pointer that can be followed in the same round trip.
bool PrefetchPolicy::wanders(const Situation& now) {
  return !is_slow(now.link) && now.bursts >= wanders_after &&
         now.touched < wanders_below * now.bursts;
}

/// The pages of the burst so far, and how many more may be guessed.
class PrefetchPolicy::Burst {
public:
  Burst(const PageStore& store, std::span<const std::uint64_t> missing, std::size_t room)
      : store_(store), room_(room - std::min(room, missing.size())) {
    for (const auto page : missing)
      put(page);
  }

  void allow(std::size_t guesses) { left_ = std::min(guesses, room_); }
  std::size_t left() const { return left_; }
  std::size_t room() const { return room_; }
  std::size_t size() const { return pages_.size(); }
  PageRuns runs() { return runs_of(std::move(pages_)); }

  /// Takes a page; false: the burst has it already.
  bool take(std::uint64_t page) {
    if (room_ == 0 || listed_.contains(page) || store_.find(page))
      return false;
    put(page);
    --room_;
    return true;
  }

  void guess(std::uint64_t page) {
    if (left_ > 0 && take(page))
      --left_;
  }

  /// Guesses at most `most` pages from `page` to the end of the extent.
  void guess_behind(std::uint64_t page, const Extent& extent, std::size_t most) {
    const auto floor = left_ - std::min(left_, most);
    const auto steps = std::min<std::uint64_t>(extent.last - page, steps_for(most));
    for (std::uint64_t step = 1; step <= steps && left_ > floor; ++step)
      guess(page + step);
  }
  void guess_before(std::uint64_t page, const Extent& extent, std::size_t most) {
    const auto floor = left_ - std::min(left_, most);
    const auto steps = std::min<std::uint64_t>(page - extent.first, steps_for(most));
    for (std::uint64_t step = 1; step <= steps && left_ > floor; ++step)
      guess(page - step);
  }
  std::uint64_t first_free_before(std::uint64_t page) const {
    while (page > 0 && listed_.contains(page))
      --page;
    return page;
  }
  std::uint64_t first_free_behind(std::uint64_t page) const {
    while (listed_.contains(page))
      ++page;
    return page;
  }

  /// Takes all of the extent, if its missing pages may be guessed.
  bool guess_all(const Extent& extent) {
    if (extent.pages() > left_ + store_.pages() + pages_.size())
      return false;
    std::uint64_t lacks = 0;
    for (auto page = extent.first; page <= extent.last && lacks <= left_; ++page)
      lacks += listed_.contains(page) || store_.find(page) ? 0U : 1U;
    if (lacks > left_)
      return false;
    for (auto page = extent.first; page <= extent.last; ++page)
      guess(page);
    return true;
  }

private:
  static std::uint64_t steps_for(std::size_t most) {
    return steps_for_each * most + steps_at_least;
  }
  void put(std::uint64_t page) {
    if (listed_.insert(page).second)
      pages_.push_back(page);
  }

  const PageStore& store_;
  std::size_t room_;
  std::size_t left_ = 0;
  std::vector<std::uint64_t> pages_;
  std::unordered_set<std::uint64_t> listed_;
};

void PrefetchPolicy::set_platform(const Platform& platform) {
  shape_ = PointerShape{platform.byte_order, static_cast<std::size_t>(platform.pointer_size),
                        static_cast<std::size_t>(platform.pointer_alignment)};
}

PageRuns PrefetchPolicy::plan(std::span<const std::uint64_t> missing, const Situation& now) {
  Burst burst(now.store, missing, now.room);
  for (const auto page : missing)
    take_replay(burst, page);
  // If pages were expected, most of the touched ones were among them.
  const auto needed = std::min(fetched_, std::max(now.touched, expected_));
  const ReadSoFar so_far{now.touched, fetched_ - needed, now.bursts, carried_};
  later_ = {};
  carried_before_ = carried_;
  carried_ += pages_in_flight(now.link);
  const auto allowed = guesses_allowed(now.link, so_far, missing.size());
  const auto good_ones = guesses_allowed(now.link, so_far, missing.size(), true) - allowed;
  if (good_ones > 0) {
    burst.allow(good_ones);
    take_pointed(burst, true, now.store);
    burst.allow(allowed);
  } else {
    burst.allow(allowed);
  }
  if (missing.empty())
    return burst.runs();

  const auto page = missing.back();
  const auto* extent = reach_.find(page);
  const bool all = extent != nullptr && !is_slow(now.link) && burst.guess_all(*extent);
  if (extent == nullptr || all) {
    take_pointed(burst, false, now.store);
    return burst.runs();
  }
  guess_near(burst, page, *extent, now);
  return burst.runs();
}

void PrefetchPolicy::guess_near(Burst& burst, std::uint64_t page, const Extent& extent,
                                const Situation& now) {
  const auto follows = [&](const Stream& stream) { return page - stream.behind < stream_gap; };
  const auto precedes = [&](const Stream& stream) { return stream.before - page < stream_gap; };
  const auto known = std::ranges::find_if(
      streams_, [&](const Stream& stream) { return follows(stream) || precedes(stream); });
  const bool rising = known != streams_.end() && follows(*known);
  const bool falling = known != streams_.end() && !rising;
  const auto half = (burst.left() + 1) / 2;
  if (rising)
    burst.guess_behind(page, extent, half);
  if (falling)
    burst.guess_before(page, extent, half);
  const Stream here{burst.first_free_before(page), burst.first_free_behind(page)};
  const auto replaced = known != streams_.end() ? known : std::prev(streams_.end());
  std::shift_right(streams_.begin(), std::next(replaced), 1);
  streams_.front() = here;

  // On slow links the pages from lists are in the burst already.
  const bool cheap = guesses_are_cheap(now.link);
  take_pointed(burst, !cheap && !is_slow(now.link), now.store);
  if (!cheap && wanders(now))
    burst.guess_behind(page, extent, burst.left() / wanderers_share);
  if (cheap) {
    if (!falling)
      burst.guess_behind(page, extent, burst.left());
    burst.guess_before(page, extent, burst.left());
    burst.guess_behind(page, extent, burst.left());
  }
  if (rising && !is_slow(now.link))
    later_ = pages_behind(burst, here.behind, extent, now);
}

/// The unknown pages from `page` on, in one piece.
PageRun PrefetchPolicy::pages_behind(const Burst& burst, std::uint64_t page, const Extent& extent,
                                     const Situation& now) const {
  PageRun run{burst.first_free_behind(page), 0};
  const auto most = std::min<std::uint64_t>(
      burst.room(), std::max(later_for_each * burst.size(), later_at_least));
  while (run.count < most && run.first + run.count <= extent.last &&
         burst.first_free_behind(run.first + run.count) == run.first + run.count &&
         !now.store.find(run.first + run.count))
    ++run.count;
  return extent.certain ? run : PageRun();
}

std::size_t PrefetchPolicy::may_go_on(const Situation& now, std::uint64_t asked) const {
  if (now.touched < goes_on_after)
    return 0;
  const auto fetched = fetched_ + asked;
  const auto needed = std::min(fetched, std::max(now.touched, expected_));
  return guesses_allowed(now.link, {now.touched, fetched - needed, now.bursts, carried_before_}, 0);
}

void PrefetchPolicy::take_replay(Burst& burst, std::uint64_t page) {
  const auto* extent = reach_.find(page);
  const auto near = extent != nullptr
                        ? *extent
                        : Extent{page - std::min(page, replay_nearby), page + replay_nearby};
  PageRuns later;
  for (const auto& run : replay_) {
    const auto last = run.first + (run.count - 1);
    if (run.first > near.last || last < near.first) {
      later.push_back(run);
      continue;
    }
    for (auto at = std::max(run.first, near.first); at <= std::min(last, near.last); ++at)
      expected_ += reach_.may_read(at) && burst.take(at) ? 1U : 0U;
  }
  replay_ = std::move(later);
}

void PrefetchPolicy::take_pointed(Burst& burst, bool lists_only, const PageStore& store) {
  const auto bounds = reach_.data_bounds();
  if (!shape_ || !bounds || burst.left() == 0)
    return;
  shape_->first = {bounds->first * PageStore::page_size};
  shape_->last = {bounds->last * PageStore::page_size + (PageStore::page_size - 1)};
  hints_.scan(scans_for_each * burst.left(), store, reach_, *shape_);
  for (const auto page : hints_.best(burst.left(), lists_only, store))
    burst.guess(page);
}

void PrefetchPolicy::came(const PageRun& run) {
  fetched_ += run.count;
  for (std::uint64_t i = 0; i < run.count; ++i)
    hints_.add(run.first + i);
}

bool PrefetchPolicy::certain(std::uint64_t page) const {
  const auto* extent = reach_.find(page);
  return extent != nullptr && extent->certain;
}

void PrefetchPolicy::clear() {
  hints_.clear();
  streams_ = {};
  later_ = {};
  fetched_ = expected_ = 0;
}

} // namespace mqbridge
