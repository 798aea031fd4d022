#include "host/memory/page_cache.h"

#include "host/memory/line_plan.h"
#include "host/memory/prefetch_budget.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <utility>

namespace mqbridge {
namespace {

constexpr std::size_t page_size = PageStore::page_size;
constexpr std::size_t line_size = PageStore::line_size;

/// The part of a range that lies in one page.
struct Part {
  std::uint64_t page;
  std::size_t offset; ///< in the page
  std::size_t size;
};

/// Calls `use` for each page that the range touches. A range that would wrap around the address
/// space ends at its top.
template <typename Use>
void for_each_part(const MemoryRange& range, const Use& use) {
  if (range.into.empty())
    return;
  const auto first = range.address.value;
  const auto behind = std::min<std::uint64_t>(range.into.size() - 1, UINT64_MAX - first);
  for (std::uint64_t done = 0; done <= behind;) {
    const auto offset = static_cast<std::size_t>((first + done) % page_size);
    const auto size = std::min<std::uint64_t>(page_size - offset, behind - done + 1);
    use(Part{(first + done) / page_size, offset, static_cast<std::size_t>(size)});
    done += size;
    if (done == 0)
      return; // all of the address space
  }
}

/// `count` lines from `first` on.
std::uint64_t lines(std::size_t first, std::size_t count) {
  return count == 0 ? 0 : page_table::lines_of(first * line_size, count * line_size);
}

std::uint64_t lines_missing(const PageStore& store, const Part& part) {
  const auto known = store.find(part.page);
  return page_table::lines_of(part.offset, part.size) & ~(known ? known->settled : 0);
}

std::vector<std::uint64_t> pages_missing(const PageStore& store,
                                         std::span<const MemoryRange> ranges) {
  std::vector<std::uint64_t> pages;
  for (const auto& range : ranges)
    for_each_part(range, [&](const Part& part) {
      if (lines_missing(store, part) != 0)
        pages.push_back(part.page);
    });
  std::ranges::sort(pages);
  pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
  return pages;
}

} // namespace

/// A part that is read as one range: whole pages, or lines of one page.
struct PageCache::Piece {
  std::uint64_t page;
  std::size_t line; ///< of the page, the first one that is read
  std::span<std::byte> into;
};

/// Takes a burst of whole pages as they come.
class PageCache::Arrivals final : public rsp::ReadWatcher {
public:
  /// `pieces` are whole pages. The first `planned` ones are read in any case.
  Arrivals(PageCache& cache, std::span<const Piece> pieces, std::size_t planned)
      : cache_(cache), pieces_(pieces), planned_(planned), shown_(pieces.size()),
        before_(cache.situation()) {
    for (const auto& piece : pieces.first(planned))
      asked_ += piece.into.size() / page_size;
  }

  void came(std::size_t piece, std::size_t read) override {
    constexpr auto all = PageStore::all_lines;
    for (auto& shown = shown_[piece]; shown < read / page_size; ++shown)
      cache_.store_.publish(pieces_[piece].page + shown, all, all);
  }

  void look() override { wants_more_ = cache_.store_.let_look(); }

  std::size_t wants(std::size_t piece, std::size_t offset) override {
    if (piece < planned_)
      return pieces_[piece].into.size() - offset;
    if (offset >= limit_ && wants_more_)
      raise_limit();
    return limit_ - std::min(limit_, offset);
  }

private:
  void raise_limit() {
    before_.touched = cache_.store_.touched_pages();
    const auto more = cache_.policy_.may_go_on(before_, asked_);
    if (more < worthwhile)
      return;
    limit_ += more * page_size;
    asked_ += more;
  }

  /// Pages. A smaller continuation would need requests of its own, and a wait for each marker.
  static constexpr std::size_t worthwhile = 64;

  PageCache& cache_;
  std::span<const Piece> pieces_;
  std::size_t planned_;
  std::vector<std::size_t> shown_; ///< pages of each piece
  PrefetchPolicy::Situation before_;
  std::uint64_t asked_ = 0; ///< number of pages
  std::size_t limit_ = 0;   ///< bytes that may be read of the piece behind the planned ones
  bool wants_more_ = false;
};

PageCache::PageCache(Memory& below, PageStore& store, Options options)
    : below_(below), store_(store), options_(options) {
  if (!options_.explore)
    policy_.stay_in_map();
}

void PageCache::clear() {
  store_.clear();
  policy_.clear();
  ragged_.clear();
}

Result<void> PageCache::read_ranges(std::span<MemoryRange> ranges) {
  if (auto loaded = load(ranges); !loaded)
    return loaded;
  for (auto& range : ranges) {
    range.read = copy(range);
    if (range.read < range.into.size())
      if (auto done = read_past(range); !done)
        return done;
  }
  return {};
}

Result<void> PageCache::load(std::span<const MemoryRange> ranges) {
  auto missing = pages_missing(store_, ranges);
  if (missing.empty())
    return {};
  if (missing.size() > store_.room()) {
    clear();
    missing = pages_missing(store_, ranges);
    missing.resize(std::min(missing.size(), store_.room())); // read_past() gets the rest
  }
  const auto unit = options_.mode == CacheMode::full ? read_unit(link()) : page_size;
  if (unit < page_size)
    return load_lines(ranges, unit);
  if (auto done = load_pages(missing); !done)
    return done;
  // A run ends at its first hole. Missing pages behind it are asked for one by one.
  std::erase_if(missing, [&](std::uint64_t page) { return store_.find(page).has_value(); });
  PageRuns alone;
  for (const auto page : missing)
    alone.push_back({page, 1});
  return alone.empty() ? Result<void>() : fetch_runs(alone);
}

Result<void> PageCache::load_pages(std::span<const std::uint64_t> missing) {
  PageRuns runs;
  if (options_.mode == CacheMode::full)
    runs = policy_.plan(missing, situation());
  else
    for (const auto page : missing)
      runs.push_back({page, 1});
  const bool ahead = options_.mode == CacheMode::full;
  if (auto done = fetch_runs(runs, ahead ? policy_.later() : PageRun()); !done)
    return done;
  for (const auto page : missing) {
    const auto known = store_.find(page);
    if (known && known->readable != 0)
      policy_.was_readable(page);
  }
  return {};
}

Result<void> PageCache::load_lines(std::span<const MemoryRange> ranges, std::size_t unit) {
  std::map<std::uint64_t, std::uint64_t> wanted; // lines by page
  for (const auto& range : ranges)
    for_each_part(range, [&](const Part& part) {
      if (const auto missing = lines_missing(store_, part); missing != 0)
        wanted[part.page] |= missing;
    });
  const auto settled = [&](std::uint64_t page) {
    const auto known = store_.find(page);
    return known ? known->settled : 0;
  };
  std::vector<Piece> pieces;
  for (const auto& [page, missing] : wanted) {
    if (!store_.find(page) && store_.prepare(page, 1).empty())
      continue;
    const KnownLines known{settled(page - 1), settled(page), settled(page + 1)};
    for (const auto& span : plan_lines(missing, known, unit / line_size))
      pieces.push_back({page,
                        span.first,
                        {store_.bytes_of(page) + span.first * line_size, span.count * line_size}});
  }
  return fetch(pieces);
}

Result<void> PageCache::preload(const PageRuns& pages) {
  const auto now = link();
  if (options_.mode != CacheMode::full || read_unit(now) < page_size)
    return {};
  std::vector<std::uint64_t> missing;
  for (const auto& run : pages)
    for (std::uint64_t i = 0; i < run.count && missing.size() < store_.room(); ++i)
      if (!store_.find(run.first + i) && policy_.may_read(run.first + i))
        missing.push_back(run.first + i);
  policy_.expect(missing.size());
  return fetch_runs(runs_of(std::move(missing)));
}

/// Where the map is certain, a run is read as one range. Elsewhere each of its pages is a range of
/// its own: a hole among them then costs none of the others.
Result<void> PageCache::fetch_runs(const PageRuns& runs, const PageRun& later) {
  std::vector<Piece> pieces;
  bool any_in_part = false;
  for (const auto& run : runs) {
    for (std::uint64_t at = 0; at < run.count;) {
      const auto page = run.first + at;
      const bool in_part = store_.find(page).has_value(); // its lines stay where they are
      any_in_part |= in_part;
      std::uint64_t count = 1;
      if (!in_part && options_.mode == CacheMode::full && policy_.certain(page))
        while (at + count < run.count && policy_.certain(page + count) &&
               !store_.find(page + count))
          ++count;
      at += count;
      auto into = in_part ? std::span(store_.bytes_of(page), page_size)
                          : store_.prepare(page, static_cast<std::size_t>(count));
      if (!into.empty())
        pieces.push_back({page, 0, into});
    }
  }
  // The onlooker already sees a page that is there in part. All of its bytes have to be there
  // before it looks again, so that such a burst is not shown as it comes.
  return any_in_part ? fetch(pieces) : fetch_watched(pieces, later);
}

PrefetchPolicy::Situation PageCache::situation() const {
  return {store_, link(), store_.touched_pages(), statistics_.bursts, store_.room()};
}

Result<void> PageCache::fetch_watched(std::vector<Piece>& pieces, const PageRun& later) {
  if (pieces.empty())
    return {};
  const auto planned = pieces.size();
  const auto room = store_.prepare(later.first, static_cast<std::size_t>(later.count));
  if (!room.empty())
    pieces.push_back({later.first, 0, room});
  std::vector<MemoryRange> requests;
  requests.reserve(pieces.size());
  for (const auto& piece : pieces)
    requests.push_back({{piece.page * page_size}, piece.into});
  Arrivals arrivals(*this, pieces, planned);
  if (auto done = below_.read_watched(requests, arrivals); !done)
    return done;
  ++statistics_.bursts;
  if (!room.empty()) {
    auto& last = pieces.back();
    last.into = room.first(requests.back().read / page_size * page_size);
    store_.give_back((room.size() - last.into.size()) / page_size);
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    statistics_.lines_read += pieces[i].into.size() / line_size;
    statistics_.bytes_read += requests[i].read;
    take(pieces[i], requests[i].read);
  }
  return {};
}

Result<void> PageCache::fetch(std::span<const Piece> pieces) {
  if (pieces.empty())
    return {};
  std::vector<MemoryRange> requests;
  requests.reserve(pieces.size());
  for (const auto& piece : pieces)
    requests.push_back({{piece.page * page_size + piece.line * line_size}, piece.into});
  if (auto done = below_.read_ranges(requests); !done)
    return done;
  ++statistics_.bursts;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    statistics_.lines_read += pieces[i].into.size() / line_size;
    statistics_.bytes_read += requests[i].read;
    take(pieces[i], requests[i].read);
  }
  return {};
}

std::uint64_t PageCache::pages_read() const {
  constexpr std::uint64_t lines_of_a_page = page_size / line_size;
  return (statistics_.lines_read + lines_of_a_page - 1) / lines_of_a_page;
}

/// Publishes the bytes that came, and a hole where the read ended early. With an operating system
/// the hole is the rest of the page. Without one it is a single line, as memory may begin anywhere
/// there. Nothing is known about the bytes behind the hole.
void PageCache::take(const Piece& piece, std::size_t read) {
  std::uint64_t page = piece.page;
  std::size_t line = piece.line;
  for (std::size_t done = 0; done < piece.into.size(); ++page, line = 0) {
    const auto asked = std::min(piece.into.size() - done, page_size - line * line_size);
    const auto got = std::min(asked, read - std::min(read, done));
    const auto whole = got / line_size;
    const auto settled = options_.explore || got == asked ? asked / line_size : whole + 1;
    store_.publish(page, lines(line, whole), lines(line, settled));
    if (got % line_size != 0)
      ragged_.insert(page * page_size + (line + whole) * line_size);
    done += asked;
    if (got < asked) {
      ++page;
      break;
    }
  }
  policy_.came({piece.page, page - piece.page});
}

std::size_t PageCache::copy(const MemoryRange& range) {
  std::size_t done = 0;
  bool whole = true;
  for_each_part(range, [&](const Part& part) {
    const auto known = whole ? store_.find(part.page) : std::nullopt;
    if (!known)
      return;
    store_.mark_touched(part.page);
    const auto line = part.offset / line_size;
    const auto readable = static_cast<std::size_t>(std::countr_one(known->readable >> line));
    const auto end = std::min((line + readable) * line_size, part.offset + part.size);
    const auto length = readable == 0 ? 0 : end - part.offset;
    std::memcpy(range.into.data() + done, known->bytes + part.offset, length);
    done += length;
    whole = length == part.size;
  });
  return done;
}

/// Reads the rest of a range behind the bytes that copy() had, if the store cannot tell: only a
/// part of the line can be read, or the store had no room.
Result<void> PageCache::read_past(MemoryRange& range) {
  const auto address = range.address + range.read;
  if (address < range.address)
    return {}; // the top of the address space
  const auto line = address.value / line_size * line_size;
  const auto known = store_.find(address.value / page_size);
  const bool settled = known && (known->settled & lines(line % page_size / line_size, 1)) != 0;
  if (settled && !ragged_.contains(line))
    return {};
  MemoryRange rest{address, range.into.subspan(range.read)};
  if (auto done = below_.read_ranges({&rest, 1}); !done)
    return done;
  ++statistics_.bursts;
  statistics_.bytes_read += rest.read;
  range.read += rest.read;
  return {};
}

} // namespace mqbridge
