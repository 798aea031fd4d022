#pragma once

#include "host/elf/elf_machine.h"
#include "host/memory/address.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mqbridge {

/// One thread, as a note NT_PRSTATUS describes it.
struct CoreThread {
  std::int64_t tid = 0;
  int signal = 0; ///< the signal that stopped the thread; 0: none
  /// The kernel's pr_reg: the general registers in the order of the target's <sys/user.h>, in the
  /// target's byte order.
  std::vector<std::byte> registers;
};

/// A piece of a file that was mapped, as the note NT_FILE lists it. Addresses are both included.
struct CoreMapping {
  TargetAddress first;
  TargetAddress last;
  std::uint64_t offset = 0; ///< of `first` in the file, in bytes
  std::string name;         ///< absolute path, as the kernel knew it; may end with " (deleted)"
};

/// The contents of a core file's notes (PT_NOTE). Facts that are missing there stay empty.
struct CoreNotes {
  /// In the order of the notes. The first thread is the one that got the signal (kernel, QEMU), or
  /// the one that gdb had selected.
  std::vector<CoreThread> threads;
  std::optional<std::int64_t> pid;
  std::string name;                  ///< of the program, at most 15 bytes
  std::string arguments;             ///< argv with spaces in between, at most 79 bytes
  std::string auxv;                  ///< bytes of the auxiliary vector
  std::vector<CoreMapping> mappings; ///< in order, never overlapping

  /// Notes that only some writers write.
  bool has_signal_information = false; ///< NT_SIGINFO
  bool has_floating_point = false;     ///< NT_FPREGSET
  bool is_from_gdb = false;            ///< a note of the owner GDB

  /// Faults, a sentence without a full stop for each; only for the first few places.
  std::vector<std::string> problems;

  /// nullptr: no mapping has it.
  const CoreMapping* find_mapping(TargetAddress address) const;
};

/// Adds the notes of one segment to `notes`. `alignment` is the segment's p_align: notes are
/// aligned to 8 bytes if it is 8, else to 4. Each size in `bytes` is compared with the bytes that
/// are there before it is believed. Source: elf(5), core(5), <linux/elfcore.h>.
void parse_core_notes(std::span<const std::byte> bytes, const ElfIdentity& identity,
                      std::uint64_t alignment, CoreNotes& notes);

} // namespace mqbridge
