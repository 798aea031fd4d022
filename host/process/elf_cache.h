#pragma once

#include "host/elf/elf_file.h"
#include "host/files/debuginfod.h"
#include "host/files/file_finder.h"
#include "host/types/dwarf_types.h"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace mqbridge {

/// Files of this host that several ranks and dumps share: each is opened and indexed once. After a
/// minute the cache checks a file again: a file that replaced it, or was missing before, is opened
/// then. The cache has at most `most_files` files; the files that were unused for longest make
/// room. A rank that wants a file which another rank is opening waits for it within its own time
/// (WorkScope); it waits for no other file. Thread-safe.
class ElfCache {
  using Clock = std::chrono::steady_clock;

public:
  static constexpr std::size_t most_files = 4096;
  static constexpr std::chrono::seconds believed_for{60};

  /// `debuginfod` null: no server is asked. `indexer`: for the DWARF of these files. `believe`: how
  /// long a file is used without another check.
  explicit ElfCache(FilePaths paths, std::unique_ptr<Debuginfod> debuginfod = nullptr,
                    IndexerOptions indexer = {}, Clock::duration believe = believed_for)
      : paths_(std::move(paths)), believe_(believe), debuginfod_(std::move(debuginfod)),
        dwarf_(std::make_shared<DwarfSources>(paths_, std::move(indexer))) {}

  const FilePaths& paths() const { return paths_; }
  Debuginfod* debuginfod() { return debuginfod_.get(); }
  /// The DWARF of these files, for the ImageSets of all ranks.
  const std::shared_ptr<DwarfSources>& dwarf() const { return dwarf_; }

  /// As ElfFile::open, and the errors of work_over(), which are not kept.
  Result<std::shared_ptr<const ElfFile>> open(const FilePlace& place);
  /// As find_debug_file, and as open().
  Result<std::shared_ptr<const ElfFile>> debug_of(const ElfFile& file);

private:
  using Opened = Result<std::shared_ptr<const ElfFile>>;
  struct Entry {
    std::timed_mutex opening; ///< guards `opened` and `opened_at`; held while the file is opened
    std::optional<Opened> opened;
    Clock::time_point opened_at;
    Clock::time_point used; ///< guarded by mutex_
  };
  using Entries = std::map<std::string, std::shared_ptr<Entry>>;

  std::shared_ptr<Entry> entry(Entries& entries, const std::string& key);
  template <class Open>
  Opened once(Entries& entries, std::string key, const FilePlace& place, std::string_view work,
              const Open& open);

  FilePaths paths_;
  const Clock::duration believe_;
  std::unique_ptr<Debuginfod> debuginfod_;
  std::shared_ptr<DwarfSources> dwarf_;
  std::mutex mutex_; ///< guards the two maps, but not what an Entry's own mutex guards
  Entries files_;
  Entries debug_files_; ///< by ElfFile::identity() of the file to which they belong
};

} // namespace mqbridge
