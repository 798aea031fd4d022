#pragma once

#include "host/files/file_finder.h"
#include "host/process/elf_cache.h"
#include "host/types/indexer_options.h"

#include <cstddef>
#include <filesystem>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

namespace mqbridge {

/// Files of this host for targets that have sysroots of their own: a cache for each list of them,
/// which all their ranks share. Of more than `most_caches` lists those are forgotten that were not
/// asked for longest; a rank that uses one keeps it. Thread-safe.
class SysrootCaches {
public:
  static constexpr std::size_t most_caches = 32;

  /// `paths`: of all targets. Their sysroots come behind a target's own.
  SysrootCaches(FilePaths paths, IndexerOptions indexer)
      : paths_(std::move(paths)), indexer_(std::move(indexer)) {}

  std::shared_ptr<ElfCache> of(const std::vector<std::filesystem::path>& sysroots);

private:
  struct Kept {
    std::vector<std::filesystem::path> sysroots;
    std::shared_ptr<ElfCache> files;
  };

  const FilePaths paths_;
  const IndexerOptions indexer_;
  std::mutex mutex_;
  std::list<Kept> kept_; ///< the one asked for last comes first
};

} // namespace mqbridge
