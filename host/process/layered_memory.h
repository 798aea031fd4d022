#pragma once

#include "host/memory/cache_mode.h"
#include "host/memory/memory.h"
#include "host/memory/memory_map.h"
#include "host/memory/page_cache.h"
#include "host/memory/page_runs.h"
#include "host/memory/page_store.h"
#include "host/memory/platform.h"
#include "host/process/process_source.h"
#include "rsp/result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace mqbridge {

/// The memory of one stopped process in layers: that of its source, and above it the page cache, if
/// there is one. Tells the cache about mappings when the source learns them.
class LayeredMemory final : public Memory {
public:
  /// `source` is not owned and outlives this. Error: memory.store.
  static Result<std::unique_ptr<LayeredMemory>> create(ProcessSource& source,
                                                       PageCache::Options options);

  Result<void> read_ranges(std::span<MemoryRange> ranges) override;
  /// Also uses the process's own list of mappings.
  const Lack* lack(TargetAddress address) const override;
  /// Bypasses the cache.
  Memory& uncached() { return source_.memory(); }
  /// The mappings, as far as they are known by now.
  const MemoryMap& map();
  /// Reads these pages in one burst, with the files that are read beside it. Holes are tolerated.
  /// Does nothing without a cache that reads ahead.
  Result<void> preload(const PageRuns& pages);
  /// Pages that are likely to be needed, too many to read all of them at once.
  void expect(PageRuns pages);

  /// The platform is known from here on.
  void set_platform(const Platform& platform);
  /// Further ranges that are mapped; they count if the process's own list cannot be read.
  void add_mapped(std::vector<MappedRange> ranges);

  PageStore* store() { return store_.get(); } ///< null without a cache
  PageRuns touched() const;
  std::uint64_t pages_read() const { return cache_ ? cache_->pages_read() : 0; }
  /// The process may run: forgets everything except the touched pages.
  void clear();

private:
  explicit LayeredMemory(ProcessSource& source) : source_(source) {}
  void take_news();

  ProcessSource& source_;
  std::unique_ptr<PageStore> store_;
  std::optional<PageCache> cache_;
  std::optional<Platform> platform_;
  std::vector<MappedRange> added_;
  MemoryMap map_;
  bool own_list_ = false; ///< map_ is the process's own
};

} // namespace mqbridge
