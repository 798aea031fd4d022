#pragma once

#include "host/elf/elf_file.h"
#include "host/memory/memory.h"
#include "host/memory/platform.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mqbridge {

/// ELF header, program headers and build-id note, as common linkers place them.
inline constexpr std::size_t image_head_size = 1024;

/// A program header as it stands in the target's memory.
struct ProgramHeader {
  std::uint32_t type = 0;
  std::uint64_t offset = 0; ///< p_offset
  FileAddress address;      ///< p_vaddr
  std::uint64_t file_size = 0;
  std::uint64_t memory_size = 0;
};

/// Reads `count` program headers at `table`. Errors: memory.unreadable, image.corrupt (absurd
/// count).
Result<std::vector<ProgramHeader>> read_program_headers(Memory& memory, const Platform& platform,
                                                        TargetAddress table, std::uint64_t count);

/// The GNU build-id among the ELF notes in `bytes`, in lower-case hexadecimal; empty if there is
/// none.
std::string find_build_id(std::span<const std::byte> bytes, ByteOrder order);

/// The place of an object in the target: its ELF header, and the offset of its addresses.
struct LoadedHeader {
  TargetAddress header; ///< for a position-independent object the same as the bias
  LoadBias bias;
};

/// The build-ids of objects as they are loaded, to be compared with files of this host. Asks for
/// the first image_head_size bytes of each object in one call, and for notes outside of these in a
/// second. An entry is empty if no ELF header is at `header`, or if there is no build-id.
Result<std::vector<std::string>> read_build_ids(Memory& memory, const Platform& platform,
                                                std::span<const LoadedHeader> objects);

} // namespace mqbridge
