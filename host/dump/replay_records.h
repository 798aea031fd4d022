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

/// Which pages dumps have looked at, kept from one run to the next: page numbers only, never what
/// stood in them. Hints: what is damaged, stale or invented costs a dump some over-read.
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

  /// Replaces what was known. Where it cannot be kept, nothing is.
  void keep_process_pages(std::string_view identity, const PageRuns& pages);
  /// Adds to what was known: each dump sees other corners of an image's data.
  void keep_image_pages(std::string_view build_id, const PageRuns& pages);

private:
  CacheRecords records_;
  std::mutex mutex_;
  std::map<std::string, PageRuns, std::less<>> images_; ///< by build-id, as far as asked for
};

/// The contents of a record: the gap before each run and its length, as LEB128 numbers.
std::vector<std::byte> encode_runs(const PageRuns& runs);
/// nullopt: these bytes are no set of at most `most_pages` pages.
std::optional<PageRuns> decode_runs(std::span<const std::byte> bytes, std::uint64_t most_pages);

} // namespace mqbridge
