#pragma once

#include "host/memory/cache_mode.h"
#include "host/memory/memory.h"
#include "host/memory/memory_map.h"
#include "host/memory/page_cache.h"
#include "host/memory/page_runs.h"
#include "host/memory/page_store.h"
#include "host/memory/platform.h"
#include "host/process/live/process_files.h"
#include "host/process/live/stub_memory.h"
#include "host/process/live/zero_watch.h"
#include "rsp/client/client.h"
#include "rsp/result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace mqbridge {

/// The memory of one stopped process, layer upon layer: the stub, a watch over doubtful zeros where
/// the stub needs one, and above them the page cache, if there is one. Reads the list of mappings
/// on the side, and tells the cache as it comes.
class TargetMemory final : public Memory {
public:
  /// `client` and `files` are not owned and outlive this. Error: memory.store.
  static Result<std::unique_ptr<TargetMemory>> create(rsp::Client& client, ProcessFiles& files,
                                                      PageCache::Options options);

  Result<void> read_ranges(std::span<MemoryRange> ranges) override;
  /// Past the cache.
  Memory& uncached() { return zeros_ ? static_cast<Memory&>(*zeros_) : stub_; }
  /// Reads these pages in one burst, and what the files on the side want with them. Holes are
  /// tolerated; nothing without a cache that reads ahead.
  Result<void> preload(const PageRuns& pages);
  /// Pages that are likely to be needed, too many to read all of them at once.
  void expect(PageRuns pages);

  /// Known from here on.
  void set_platform(const Platform& platform);
  /// What else is known to be mapped; counts where the process's own list cannot be read.
  void add_mapped(std::vector<MappedRange> ranges);
  /// As far as it is known by now.
  const MemoryMap& map();

  PageStore* store() { return store_.get(); } ///< null without a cache
  PageRuns touched() const;
  std::uint64_t pages_read() const { return cache_ ? cache_->pages_read() : 0; }
  std::optional<ZeroWatch>& zeros() { return zeros_; }
  /// The process may run: nothing is known any more, but what was touched.
  void clear();

private:
  TargetMemory(rsp::Client& client, ProcessFiles& files);
  void take_news();

  ProcessFiles& files_;
  StubMemory stub_;
  std::optional<ZeroWatch> zeros_; ///< where zeros may be reads that failed
  std::unique_ptr<PageStore> store_;
  std::optional<PageCache> cache_;
  std::optional<Platform> platform_;
  std::vector<MappedRange> added_;
  MemoryMap map_;
  bool own_list_ = false; ///< map_ is the process's own
};

} // namespace mqbridge
