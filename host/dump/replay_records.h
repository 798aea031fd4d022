#pragma once

#include "host/disk/cache_records.h"
#include "host/memory/page_runs.h"
#include "host/process/replay_hints.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mqbridge {

/// The pages that dumps have looked at, kept from one run to the next: page numbers only, never
/// their contents. They are hints: damaged, stale or invented ones cost a dump some over-read.
/// Thread-safe.
class ReplayRecords final : public ReplayHints {
public:
  /// Below cache_root().
  ReplayRecords();
  /// In a folder of `root`; nullopt: nothing is kept.
  explicit ReplayRecords(const std::optional<std::filesystem::path>& root);

  PageRuns process_pages(std::string_view identity) override;
  /// Read once: the ranks of a job have their images in common.
  PageRuns image_pages(std::string_view build_id) override;

  /// Replaces the earlier record. If it cannot be stored, nothing happens.
  void keep_process_pages(std::string_view identity, const PageRuns& pages);
  /// Adds to the earlier record: each dump sees other parts of an image's data.
  void keep_image_pages(std::string_view build_id, const PageRuns& pages);

private:
  CacheRecords records_;
  std::mutex mutex_;
  std::map<std::string, PageRuns, std::less<>> images_; ///< by build-id, as far as asked for
};

/// The contents of a record: the gap before each run and its length, as LEB128 numbers.
std::vector<std::byte> encode_runs(const PageRuns& runs);
/// nullopt: `bytes` are no set of at most `most_pages` pages.
std::optional<PageRuns> decode_runs(std::span<const std::byte> bytes, std::uint64_t most_pages);

} // namespace mqbridge
