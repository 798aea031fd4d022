#pragma once

#include "host/dump/shared_tools.h"
#include "host/dump/target/target_spec.h"
#include "host/files/file_finder.h"
#include "host/process/elf_cache.h"
#include "host/types/indexer_options.h"

#include <cstddef>
#include <filesystem>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace mqbridge {

/// Files of this host for targets with sysroots of their own: one cache for each list of sysroots,
/// shared by the ranks that have this list. If there are more than `most_caches`, it forgets the
/// caches that were unused for longest; a rank that uses a cache keeps it. Thread-safe.
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

/// The tools for one target: those of all ranks, except for files that belong to this target alone
/// (TargetKeys: sysroots, types, DLL). The target's own come before those of all.
class TargetTools {
public:
  /// `shared` outlives it.
  TargetTools(const TargetSpec& target, const SharedTools& shared);
  TargetTools(const TargetTools&) = delete;
  TargetTools& operator=(const TargetTools&) = delete;

  const SharedTools& get() const { return tools_; }

private:
  std::shared_ptr<ElfCache> files_;    ///< null: the one of all ranks
  std::optional<DumpOptions> options_; ///< nullopt: those of all ranks
  SharedTools tools_;
};

} // namespace mqbridge
