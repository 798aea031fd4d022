#pragma once

#include "host/disk/file_descriptor.h"
#include "host/elf/elf_machine.h"
#include "rsp/result.h"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace mqbridge {

/// One program header of a core, as the file has it: nothing is checked.
struct CoreHeader {
  std::uint32_t type = 0;
  std::uint32_t flags = 0;
  std::uint64_t offset = 0;
  std::uint64_t address = 0;
  std::uint64_t file_size = 0;
  std::uint64_t memory_size = 0;
  std::uint64_t alignment = 0;
};

/// The ELF header and the program headers of a core.
struct CoreHeaders {
  ElfIdentity identity;
  std::vector<CoreHeader> programs; ///< those in the file, at most limits::core_mappings
  std::uint64_t table = 0;          ///< where the first of them is in the file
  std::uint64_t counted = 0;        ///< the number of them that the ELF header states
};

/// Reads the headers of the file `path`, open as `fd`, which has `size` bytes. Errors:
/// core.not_a_core, core.truncated (before the first program header), core.corrupt.
Result<CoreHeaders> read_core_headers(const std::filesystem::path& path, const FileDescriptor& fd,
                                      std::uint64_t size);

} // namespace mqbridge
