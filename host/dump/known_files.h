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

/// Opens the files that the last dump used, with their debug files and page hints, before this dump
/// holds a target: most jobs on a host run the same libraries. Only names of files are kept from
/// one run to the next; a damaged, stale or invented name costs some time before the target is
/// stopped. Thread-safe, except the constructor.
class KnownFiles {
public:
  /// Begins at once, on a thread of its own if one can be started. Both arguments outlive it. Keeps
  /// its record in a folder of `root`; nullopt: nothing is known, nor kept.
  explicit KnownFiles(ElfCache& files, ReplayHints& replay,
                      const std::optional<std::filesystem::path>& root = cache_root());
  ~KnownFiles(); ///< waits

  /// Returns when all files were opened. To be called before a target is held.
  void wait() const { ready_.wait(); }
  /// Notes the files of images that are loaded in a target, if they are of our own file system.
  void add(const ImageSet& images);
  /// Keeps the added files for the next run; if none were added, the old record stays.
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
/// Empty: these bytes are no such list, or the list has more files than limits::known_files.
std::vector<std::filesystem::path> decode_paths(std::span<const std::byte> bytes);

} // namespace mqbridge
