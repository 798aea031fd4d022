#pragma once

#include "host/elf/elf_file.h"
#include "host/files/file_finder.h"
#include "host/types/indexer_options.h"
#include "host/types/types.h"

#include <map>
#include <memory>
#include <mutex>

namespace mqbridge {

class DwarfTypes;

/// The types in the DWARF of ELF files: .debug_info of versions 2 to 5, 32- and 64-bit format,
/// compressed, type units. For each file a process of its own reads it, mqbridge-indexer. The
/// process is started when a type is looked up that no earlier run has asked for; whatever the file
/// does to it is an error of that file. Several ranks share one DwarfSources: each file is indexed
/// once. The results are kept for the next run (CacheRecords), written when this and its sources
/// are gone. Thread-safe; each source is for one thread at a time.
class DwarfSources {
public:
  /// `paths`: where to look for alternate files of dwz, and for split DWARF.
  explicit DwarfSources(FilePaths paths = {}, IndexerOptions options = {})
      : paths_(std::move(paths)), options_(std::move(options)) {}

  /// Names are indexed when the first one is looked up; layouts are resolved on demand. A bit-field
  /// is listed at the offset of its storage unit. A type that is only declared is not known here.
  /// Parts that are missing are warnings of the source. Errors: dwarf.none, dwarf.compression.
  /// Errors of find(): dwarf.corrupt, dwarf.timeout, dwarf.crashed, dwarf.protocol, elf.open,
  /// worker.start, sandbox.unavailable, stop.limit, interrupted (WorkScope); after the last two it
  /// can be asked again.
  Result<std::shared_ptr<TypeSource>> open(const std::shared_ptr<const ElfFile>& file);

  const IndexerOptions& indexer() const { return options_; }

private:
  FilePaths paths_;
  IndexerOptions options_;
  std::mutex mutex_;
  /// Each file may have a process that reads it. Beyond this number, files that nobody uses now are
  /// closed.
  static constexpr std::size_t most_files = 64;
  std::map<std::shared_ptr<const ElfFile>, Result<std::shared_ptr<DwarfTypes>>> opened_;
};

/// The types of one file, as DwarfSources::open.
Result<std::shared_ptr<TypeSource>> open_dwarf_types(const std::shared_ptr<const ElfFile>& file,
                                                     FilePaths paths = {},
                                                     IndexerOptions options = {});

} // namespace mqbridge
