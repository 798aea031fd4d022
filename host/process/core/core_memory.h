#pragma once

#include "host/disk/file_on_disk.h"
#include "host/elf/elf_file.h"
#include "host/memory/memory.h"
#include "host/memory/memory_map.h"
#include "host/process/core/core_file.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mqbridge {

/// The memory of a process, from its core file. Memory that the core left out is unreadable, never
/// zeros, until add_file() gives the file that was mapped there. One thread at a time.
class CoreMemory final : public Memory {
public:
  explicit CoreMemory(std::shared_ptr<const CoreFile> core);

  /// From now on `file`, loaded with `bias`, provides the bytes that the core left out of its
  /// read-only segments. The caller must have made sure that the process had loaded this very file.
  ///
  /// Writers leave out only pages that the process never changed. Even so, writable segments are
  /// not provided: a shared mapping also has contents from other processes. If the core names the
  /// mapped files, only mappings of the same place in the file are provided.
  void add_file(const ElfFile& file, LoadBias bias);

  Result<void> read_ranges(std::span<MemoryRange> ranges) override;
  /// For any address except in the first page, if the writer does not list every mapping.
  const Lack* lack(TargetAddress address) const override;

private:
  /// A range of addresses and where its bytes are.
  struct Piece {
    std::uint64_t last = 0;
    std::uint64_t offset = 0;                 ///< of its first byte
    std::shared_ptr<const FileOnDisk> file{}; ///< nullptr: the core
  };
  /// A range that the core left out and a file may have.
  struct Hole {
    TargetAddress first;
    TargetAddress last;
    /// The number that turns an address into its offset in the file (wraps around). nullopt: the
    /// core does not name files.
    std::optional<std::uint64_t> shift;
  };

  void find_holes();
  void add_holes(TargetAddress first, TargetAddress last);
  void serve(std::uint64_t first, std::uint64_t last, std::uint64_t shift,
             const std::shared_ptr<const FileOnDisk>& file);
  std::size_t read_piece(std::uint64_t address, std::span<std::byte> into) const;

  std::shared_ptr<const CoreFile> core_;
  std::map<std::uint64_t, Piece> pieces_; ///< by first address, never overlapping
  std::vector<Hole> holes_;               ///< in order, never overlapping
};

/// The mappings of the process, with their names from NT_FILE. Memory that the core itself has is
/// readable. `complete` if the writer lists every mapping.
MemoryMap memory_map_of(const CoreFile& core);

/// The path of the program as far as the core says it: that of the file in which the auxiliary
/// vector finds the program headers, else AT_EXECFN (relative to the directory where the process
/// was started), else the name in its notes, which has no directory. Empty: not known.
std::string program_of(const CoreFile& core, Memory& memory);

} // namespace mqbridge
