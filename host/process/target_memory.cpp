#include "host/process/target_memory.h"

#include "host/memory/memory_map_parser.h"

#include <utility>

namespace mqbridge {

TargetMemory::TargetMemory(rsp::Client& client, ProcessFiles& files)
    : files_(files), stub_(client), zeros_(client.features().unreadable_reads_zero
                                               ? std::optional<ZeroWatch>(std::in_place, stub_)
                                               : std::nullopt) {}

Result<std::unique_ptr<TargetMemory>> TargetMemory::create(rsp::Client& client, ProcessFiles& files,
                                                           PageCache::Options options) {
  std::unique_ptr<TargetMemory> memory(new TargetMemory(client, files));
  if (options.mode == CacheMode::none)
    return memory;
  auto store = PageStore::create();
  if (!store)
    return forward(std::move(store));
  memory->store_ = std::move(*store);
  memory->cache_.emplace(memory->uncached(), *memory->store_, options);
  memory->cache_->set_link([&client] { return client.link_estimate(); });
  return memory;
}

Result<void> TargetMemory::read_ranges(std::span<MemoryRange> ranges) {
  take_news();
  return cache_ ? cache_->read_ranges(ranges) : uncached().read_ranges(ranges);
}

Result<void> TargetMemory::preload(const PageRuns& pages) {
  take_news();
  if (!cache_)
    return {};
  auto done = cache_->preload(pages);
  take_news();
  return done;
}

void TargetMemory::expect(PageRuns pages) {
  if (cache_)
    cache_->set_replay(std::move(pages));
}

void TargetMemory::set_platform(const Platform& platform) {
  platform_ = platform;
  if (cache_)
    cache_->set_platform(platform);
}

void TargetMemory::add_mapped(std::vector<MappedRange> ranges) {
  added_.insert(added_.end(), ranges.begin(), ranges.end());
  if (own_list_)
    return;
  map_ = map_of_ranges(added_);
  if (cache_)
    cache_->set_map(&map_);
}

const MemoryMap& TargetMemory::map() {
  take_news();
  return map_;
}

/// Before each exchange: what files want next leaves with it.
void TargetMemory::take_news() {
  files_.advance();
  auto news = platform_ ? files_.take_new_map(*platform_) : std::nullopt;
  if (!news)
    return;
  map_ = std::move(*news);
  own_list_ = true;
  if (cache_)
    cache_->set_map(&map_);
}

PageRuns TargetMemory::touched() const {
  return store_ ? store_->touched() : PageRuns();
}

void TargetMemory::clear() {
  if (cache_)
    cache_->clear();
}

} // namespace mqbridge
