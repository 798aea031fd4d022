#include "host/process/layered_memory.h"

#include "host/memory/memory_map_parser.h"

#include <utility>

namespace mqbridge {

Result<std::unique_ptr<LayeredMemory>> LayeredMemory::create(ProcessSource& source,
                                                             PageCache::Options options) {
  std::unique_ptr<LayeredMemory> memory(new LayeredMemory(source));
  if (options.mode == CacheMode::none)
    return memory;
  auto store = PageStore::create();
  if (!store)
    return forward(std::move(store));
  memory->store_ = std::move(*store);
  memory->cache_.emplace(memory->uncached(), *memory->store_, options);
  memory->cache_->set_link([&source] { return source.link_estimate(); });
  return memory;
}

Result<void> LayeredMemory::read_ranges(std::span<MemoryRange> ranges) {
  take_news();
  return cache_ ? cache_->read_ranges(ranges) : uncached().read_ranges(ranges);
}

const Lack* LayeredMemory::lack(TargetAddress address) const {
  const bool is_known = own_list_ && map_.complete && source_.is_alive();
  const MappedRange* range = is_known ? map_.find(address) : nullptr;
  // The memory of some devices must not be read, and an MPI uses none of the kernel's own mappings.
  const auto is_ordinary = [](std::string_view name) {
    return name.empty() || name == "[heap]" || name.starts_with("[stack") ||
           (name.starts_with('/') && !name.starts_with("/dev/"));
  };
  if (range != nullptr && range->readable && is_ordinary(range->name))
    return &lack_of_stub;
  return source_.memory().lack(address);
}

const MemoryMap& LayeredMemory::map() {
  take_news();
  return map_;
}

Result<void> LayeredMemory::preload(const PageRuns& pages) {
  take_news();
  if (!cache_)
    return {};
  auto done = cache_->preload(pages);
  take_news();
  return done;
}

void LayeredMemory::expect(PageRuns pages) {
  if (cache_)
    cache_->set_replay(std::move(pages));
}

void LayeredMemory::set_platform(const Platform& platform) {
  platform_ = platform;
  if (cache_)
    cache_->set_platform(platform);
}

void LayeredMemory::add_mapped(std::vector<MappedRange> ranges) {
  added_.insert(added_.end(), ranges.begin(), ranges.end());
  if (own_list_)
    return;
  map_ = map_of_ranges(added_);
  if (cache_)
    cache_->set_map(&map_);
}

/// This comes before each exchange: what the source wants to ask leaves together with it.
void LayeredMemory::take_news() {
  source_.advance();
  auto news = platform_ ? source_.take_new_map(*platform_) : std::nullopt;
  if (!news)
    return;
  map_ = std::move(*news);
  own_list_ = true;
  if (cache_)
    cache_->set_map(&map_);
}

PageRuns LayeredMemory::touched() const {
  return store_ ? store_->touched() : PageRuns();
}

void LayeredMemory::clear() {
  if (cache_)
    cache_->clear();
}

} // namespace mqbridge
