#include "host/memory/prefetch_reach.h"

#include "host/memory/page_store.h"

#include <algorithm>
#include <string_view>

namespace mqbridge {
namespace {

using Extent = PrefetchReach::Extent;

constexpr std::uint64_t window_pages = (std::uint64_t{1} << 20) / PageStore::page_size;

/// Reading a device's memory can have effects, or hang; the kernel's own pages hold no data of the
/// process. PCI devices are mapped from /dev, from /sys/bus/pci and /proc/bus/pci, and by VFIO.
bool is_harmless(std::string_view name) {
  if (name.starts_with("/dev/"))
    return name.starts_with("/dev/shm/") || name.starts_with("/dev/zero");
  if (name.starts_with("/sys/") || name.starts_with("/proc/") || name.starts_with("anon_inode:"))
    return false;
  return name != "[vvar]" && name != "[vvar_vclock]" && name != "[vsyscall]" && name != "[vdso]";
}

auto first_behind(const std::vector<Extent>& extents, std::uint64_t page) {
  return std::ranges::upper_bound(extents, page, {}, &Extent::first);
}

const Extent* find_in(const std::vector<Extent>& extents, std::uint64_t page) {
  const auto behind = first_behind(extents, page);
  if (behind == extents.begin() || std::prev(behind)->last < page)
    return nullptr;
  return &*std::prev(behind);
}

} // namespace

void PrefetchReach::set_map(const MemoryMap* map) {
  extents_.clear();
  forbidden_.clear();
  complete_ = map != nullptr && map->complete;
  if (map == nullptr)
    return;
  for (const auto& range : map->ranges) {
    const Extent extent{range.first.value / PageStore::page_size,
                        range.last.value / PageStore::page_size, range.writable, true};
    const bool allowed = range.readable && is_harmless(range.name);
    auto& list = allowed ? extents_ : forbidden_;
    // Ranges need not end at our pages' borders: a shared page belongs to the first one.
    if (list.empty() || extent.first > list.back().last)
      list.push_back(extent);
    else if (extent.last > list.back().last)
      list.push_back({list.back().last + 1, extent.last, extent.data, true});
  }
}

void PrefetchReach::saw_readable(std::uint64_t page) {
  if (explores_ && !complete_ && find(page) == nullptr)
    add_window(page);
}

/// Adds the part of the window around `page` that no known extent covers.
void PrefetchReach::add_window(std::uint64_t page) {
  Extent window{page / window_pages * window_pages, 0, true, false};
  window.last = window.first + window_pages - 1;
  for (const auto* known : {&extents_, &forbidden_}) {
    const auto behind = first_behind(*known, page);
    if (behind != known->end())
      window.last = std::min(window.last, behind->first - 1);
    if (behind == known->begin())
      continue;
    if (std::prev(behind)->last >= page)
      return;
    window.first = std::max(window.first, std::prev(behind)->last + 1);
  }
  extents_.insert(first_behind(extents_, page), window);
}

const Extent* PrefetchReach::find(std::uint64_t page) const {
  return find_in(extents_, page);
}

bool PrefetchReach::may_read(std::uint64_t page) const {
  const bool unmapped_unless_found = complete_ || !explores_;
  return find(page) != nullptr || (!unmapped_unless_found && find_in(forbidden_, page) == nullptr);
}

std::optional<Extent> PrefetchReach::data_bounds() const {
  std::optional<Extent> bounds;
  for (const auto& extent : extents_) {
    if (!extent.data)
      continue;
    if (!bounds)
      bounds = extent;
    bounds->last = extent.last;
  }
  return bounds;
}

} // namespace mqbridge
