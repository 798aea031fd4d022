#include "host/memory/prefetch_policy.h"

#include "host/memory/prefetch_budget.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

namespace mqbridge {
namespace {

using Extent = PrefetchReach::Extent;

/// Pages looked through for each one that may be read because of what is found there.
constexpr std::size_t scans_for_each = 4;
/// Pages passed over, because they are there, on the way to one that may be read.
constexpr std::size_t steps_for_each = 16;
constexpr std::size_t steps_at_least = 256;
/// Where mappings are not known, pages of earlier dumps come with a miss so close.
constexpr std::uint64_t replay_nearby = 4096;
/// Pages behind a burst that it may go on with, for each of its own, and at least.
constexpr std::uint64_t later_for_each = 8;
constexpr std::uint64_t later_at_least = 1024;
/// Pages that were looked at before a burst goes on: a short walk would gain nothing, and by then
/// the link has shown what it carries.
constexpr std::uint64_t goes_on_after = 256;
/// A miss so many pages behind what was read belongs to it.
constexpr std::uint64_t stream_gap = 2;
/// A walk that after so many bursts has not looked at so many pages for each goes anywhere.
constexpr std::uint64_t wanders_after = 16;
constexpr std::uint64_t wanders_below = 4;
/// What part of its guesses it takes beside what is missing: by measurement, in the simulator.
constexpr std::size_t wanderers_share = 8;

} // namespace

/// From node to node of a list that lies anywhere, say. There is one pointer to follow only; pages
/// that nobody asked for bring other pieces of the list, each with a pointer that can be followed
/// in the same round trip.
bool PrefetchPolicy::wanders(const Situation& now) {
  return !is_slow(now.link) && now.bursts >= wanders_after &&
         now.touched < wanders_below * now.bursts;
}

/// The pages on the list so far, and how many more may be guessed.
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

  /// False: there already.
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

  /// At most `most` pages from `page` to the end of the extent.
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

  /// All of the extent, if what it lacks may be guessed.
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
  // Most of what was touched was expected, where anything was.
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

  // On slow links those from lists are on the list already.
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

/// From `page` on what is free, in one piece.
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
