#pragma once

#include "host/disk/cache_records.h"
#include "host/process/elf_cache.h"
#include "host/process/image_set.h"
#include "host/process/replay_hints.h"

#include <cstddef>
#include <filesystem>
#include <future>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace mqbridge {

/// Looks through the files that the last dump used, with their debug files and what is known of
/// their pages, before this one holds a target for it: most jobs on a host run the same libraries.
/// Names of files only are kept from one run to the next; what is damaged, stale or invented costs
/// some time before the target is stopped. Thread-safe, but for the constructor.
class KnownFiles {
public:
  /// Begins at once, on a thread of its own where one is to be had. Both outlive it. In a folder of
  /// `root`; nullopt: nothing is known, nor kept.
  explicit KnownFiles(ElfCache& files, ReplayHints& replay,
                      const std::optional<std::filesystem::path>& root = cache_root());
  ~KnownFiles(); ///< waits

  /// Returns when all were looked through. To be called before a target is held.
  void wait() const { ready_.wait(); }
  /// These are loaded in a target.
  void add(const ImageSet& images);
  /// Keeps for the next run what was added; without any, what was known stays.
  void keep();

private:
  void look_through();

  ElfCache& files_;
  ReplayHints& replay_;
  CacheRecords records_;
  std::vector<std::filesystem::path> known_;
  std::shared_future<void> ready_;
  std::mutex mutex_;
  std::set<std::string> used_;
};

/// The contents of a record: absolute paths, each with a zero byte behind it.
std::vector<std::byte> encode_paths(const std::set<std::string>& paths);
/// Empty: these bytes are no such list, or one that no job is the reason for.
std::vector<std::filesystem::path> decode_paths(std::span<const std::byte> bytes);

} // namespace mqbridge
