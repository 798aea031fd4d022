#pragma once

#include "host/disk/file_descriptor.h"
#include "host/memory/address.h"
#include "host/memory/platform.h"
#include "host/process/core/core_notes.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

namespace mqbridge {

/// A range of the process's memory (PT_LOAD). Addresses are both included.
///
/// Example: the kernel saves of libc's first pages only the one with the ELF header. Then `first`
/// to `last` are 0x26000 bytes, and `saved` and `present` are 0x1000.
struct CoreSegment {
  TargetAddress first;
  TargetAddress last;
  std::uint64_t offset = 0; ///< of the byte at `first`, in the core
  /// Bytes from `first` on that the writer put into the core. The rest is a piece of a file, memory
  /// that the program keeps out of cores, or (kernel) memory that nobody ever wrote to. The core
  /// does not say which.
  std::uint64_t saved = 0;
  /// The number of saved bytes that the core still has: fewer if it is cut short, none if the place
  /// in its header cannot be right.
  std::uint64_t present = 0;
  bool readable = false;
  bool writable = false;
};

/// The writer of a core. Writers differ in the memory that they leave out, and in what they list.
enum class CoreWriter : std::uint8_t {
  unknown,
  kernel,    ///< lists every mapping; saves what /proc/PID/coredump_filter says
  gdb,       ///< gcore: lists only what it saves
  qemu_user, ///< lists every mapping; names no file
};

/// A core file: the contents of its headers and notes, and its bytes. Each number in it is compared
/// with the size of the file before it is believed; damaged parts are left out and named in
/// missing(). The file stays open. Any thread may read.
class CoreFile {
public:
  /// A core that is cut short is no error here as long as its ELF header is there. Errors:
  /// core.open; core.not_a_core, whose hint says how to unpack a compressed one; core.truncated;
  /// core.corrupt.
  static Result<std::shared_ptr<const CoreFile>> open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  /// The platform that the core's own header states. The executable's header is more exact: cores
  /// of MIPS n32 that QEMU wrote look like those of o32, and the page size is in the auxiliary
  /// vector.
  const Platform& platform() const { return platform_; }
  CoreWriter writer() const { return writer_; }
  std::span<const CoreSegment> segments() const { return segments_; } ///< in order, never overlap
  const CoreNotes& notes() const { return notes_; }
  /// Memory outside of segments() was not mapped: the writer lists every mapping, and no program
  /// header is missing or had to be left out.
  bool lists_every_mapping() const { return lists_every_mapping_; }

  /// Parts that a whole core would have, and that this one lacks. core.truncated: the file is
  /// shorter than its headers say. core.corrupt: headers or notes make no sense. core.filtered: the
  /// writer was told to leave out the process's own memory.
  std::span<const Error> missing() const { return missing_; }

  /// Bytes copied from `offset` of the file on; fewer where it ends.
  std::size_t read(std::uint64_t offset, std::span<std::byte> into) const;

private:
  CoreFile() = default;

  std::filesystem::path path_;
  FileDescriptor fd_;
  Platform platform_;
  CoreWriter writer_ = CoreWriter::unknown;
  std::vector<CoreSegment> segments_;
  CoreNotes notes_;
  bool lists_every_mapping_ = false;
  std::vector<Error> missing_;
};

} // namespace mqbridge
