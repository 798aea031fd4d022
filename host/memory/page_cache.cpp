#include "host/memory/page_cache.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

namespace mqbridge {
namespace {

/// First and last page number that a range touches. A range that would wrap around the address
/// space ends at its top.
std::pair<std::uint64_t, std::uint64_t> pages_of(const MemoryRange& range) {
  const auto first = range.address.value;
  const auto span = range.into.size() - 1;
  const auto last = span > UINT64_MAX - first ? UINT64_MAX : first + span;
  return {first / PageCache::page_size, last / PageCache::page_size};
}

} // namespace

Result<void> PageCache::read_ranges(std::span<MemoryRange> ranges) {
  // Before, never after, the missing pages are known: a page of this very call must not be lost.
  if (pages_.size() >= max_pages_)
    clear();
  if (auto loaded = load_missing(ranges); !loaded)
    return loaded;
  for (auto& range : ranges)
    range.read = copy(range);
  return {};
}

void PageCache::clear() {
  pages_.clear();
}

Result<void> PageCache::load_missing(std::span<const MemoryRange> ranges) {
  std::vector<std::pair<std::uint64_t, std::unique_ptr<Page>>> loading;
  std::unordered_set<std::uint64_t> wanted;
  for (const auto& range : ranges) {
    if (range.into.empty())
      continue;
    const auto [first, last] = pages_of(range);
    for (auto number = first;; ++number) {
      if (!pages_.contains(number) && wanted.insert(number).second)
        loading.emplace_back(number, std::make_unique<Page>());
      if (number == last)
        break;
    }
  }
  if (loading.empty())
    return {};

  std::vector<MemoryRange> requests;
  requests.reserve(loading.size());
  for (auto& [number, page] : loading)
    requests.push_back({TargetAddress{number * page_size}, page->bytes});
  if (auto done = below_.read_ranges(requests); !done)
    return done;

  pages_read_ += loading.size();
  for (std::size_t i = 0; i < loading.size(); ++i) {
    loading[i].second->readable = requests[i].read;
    pages_.insert_or_assign(loading[i].first, std::move(loading[i].second));
  }
  return {};
}

std::size_t PageCache::copy(const MemoryRange& range) const {
  std::size_t done = 0;
  while (done < range.into.size()) {
    const auto address = range.address.value + done;
    if (address < range.address.value)
      break; // past the top of the address space
    const auto found = pages_.find(address / page_size);
    if (found == pages_.end())
      break;
    const auto& page = *found->second;
    const auto offset = static_cast<std::size_t>(address % page_size);
    if (offset >= page.readable)
      break;
    const auto length = std::min(page.readable - offset, range.into.size() - done);
    std::memcpy(range.into.data() + done, page.bytes.data() + offset, length);
    done += length;
    if (offset + length < page_size)
      break; // a hole, or the end of the range
  }
  return done;
}

} // namespace mqbridge
