#pragma once

#include "host/image/debuginfod.h"
#include "host/image/dwarf_types.h"
#include "host/image/elf_file.h"
#include "host/image/file_finder.h"

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>

namespace mqbridge {

/// Files of this host that several ranks share: each is opened and indexed once a dump.
/// Thread-safe.
class ElfCache {
public:
  /// `debuginfod` null: no server is asked. `indexer`: for the DWARF of these files.
  explicit ElfCache(FilePaths paths, std::unique_ptr<Debuginfod> debuginfod = nullptr,
                    IndexerOptions indexer = {})
      : paths_(std::move(paths)), debuginfod_(std::move(debuginfod)),
        dwarf_(std::make_shared<DwarfSources>(paths_, std::move(indexer))) {}

  const FilePaths& paths() const { return paths_; }
  Debuginfod* debuginfod() { return debuginfod_.get(); }
  /// The DWARF of these files, for the ImageSets of all ranks.
  const std::shared_ptr<DwarfSources>& dwarf() const { return dwarf_; }

  /// As ElfFile::open.
  Result<std::shared_ptr<const ElfFile>> open(const std::filesystem::path& path);
  /// As find_debug_file.
  Result<std::shared_ptr<const ElfFile>> debug_of(const ElfFile& file);

private:
  using Opened = Result<std::shared_ptr<const ElfFile>>;

  FilePaths paths_;
  std::unique_ptr<Debuginfod> debuginfod_;
  std::shared_ptr<DwarfSources> dwarf_;
  std::mutex
      mutex_; ///< held while a file is opened: a second rank that wants it waits for the first
  std::map<std::filesystem::path, Opened> files_;
  std::map<std::filesystem::path, Opened> debug_files_; ///< by the path of the file they belong to
};

} // namespace mqbridge
