#pragma once

#include "host/elf/elf_file.h"
#include "host/files/debuginfod.h"
#include "host/files/file_finder.h"
#include "host/types/dwarf_types.h"

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

namespace mqbridge {

/// Files of this host that several ranks share: each is opened and indexed once a dump. Who wants a
/// file that another rank is opening waits for it within its own time (WorkScope), and for no other
/// file. Thread-safe.
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

  /// As ElfFile::open, and the errors of work_over(), which are not kept.
  Result<std::shared_ptr<const ElfFile>> open(const std::filesystem::path& path);
  /// As find_debug_file, and as open().
  Result<std::shared_ptr<const ElfFile>> debug_of(const ElfFile& file);

private:
  using Opened = Result<std::shared_ptr<const ElfFile>>;
  struct Entry {
    std::timed_mutex opening; ///< for what follows
    std::optional<Opened> opened;
  };
  using Entries = std::map<std::filesystem::path, Entry>; ///< never erased

  template <class Open>
  Opened once(Entries& entries, const std::filesystem::path& path, std::string_view work,
              const Open& open);

  FilePaths paths_;
  std::unique_ptr<Debuginfod> debuginfod_;
  std::shared_ptr<DwarfSources> dwarf_;
  std::mutex mutex_; ///< of the maps, not of their entries
  Entries files_;
  Entries debug_files_; ///< by the path of the file they belong to
};

} // namespace mqbridge
