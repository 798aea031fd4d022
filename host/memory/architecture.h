#pragma once

#include "host/memory/platform.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace mqbridge {

/// An ABI that files of the 32-bit class state by their e_flags.
struct FlaggedAbi {
  std::uint32_t mask = 0; ///< of e_flags; 0: there is no such ABI
  std::uint32_t value = 0;
  bool is_wide = false; ///< its registers have 64 bits
  bool is_lp64 = false;
  int int64_alignment = 8;
};

/// The beginning of GDB's name for an architecture (bfd/cpu-*.c; lldb-server has names of its own).
struct GdbName {
  std::string_view begin; ///< empty: there is no such name
  int widest_pointer = 8; ///< of programs that run on the architecture of that name
};

/// Fields of the kernel's struct elf_prstatus in a core file of the 32-bit class, in bytes.
struct CoreStatus {
  std::size_t tid = 24;
  std::size_t registers = 72;
  std::size_t unit = 4; ///< of one register; pr_fpvalid and padding follow the block of registers
};

/// Registers that follow each other both in DWARF's numbering and in memory.
struct RegisterRun {
  std::uint16_t number = 0; ///< of the first one, in DWARF
  std::uint16_t count = 0;
  std::uint16_t offset = 0; ///< of the first one, bytes
  std::uint16_t size = 0;   ///< of each, bytes
};

/// The places of the registers in a thread's register bytes. Offsets and sizes are in bytes.
struct RegisterPlaces {
  std::uint16_t program_counter = 0;
  std::uint16_t size = 0; ///< of the program counter; 0: nothing is known
  /// The registers that call frame information mentions: the general registers, and others into
  /// which a function's prologue saves them.
  std::span<const RegisterRun> runs = {};
  std::uint16_t kept_call = 0; ///< the number of the system call that the kernel keeps; 0: none
  std::uint16_t thread_pointer = 0; ///< where the C library describes the thread; 0: not known
};

/// How a system call is recognized. Registers have their numbers in DWARF.
struct SystemCalls {
  /// AUDIT_ARCH_... of <linux/audit.h>, for which libseccomp gives the calls' names; 0: not known.
  std::uint32_t numbering = 0;
  std::string_view opcode = {};    ///< the instruction; see `has_number`; empty: not known
  bool has_number = false;         ///< the byte behind it is the call's number; 0: see `number`
  std::uint16_t number = 0;        ///< register that has the call's number
  std::uint16_t result = 0;        ///< register that has the call's result
  bool steps_back = false;         ///< the kernel lets a debugger see the instruction again
  std::optional<int> restart = {}; ///< number of restart_syscall, where the kernel keeps numbers
};

/// An instruction that jumps by a distance. Its bytes are one number, in `order`. The bits that do
/// not belong to the distance are the opcode. Example: aarch64's `b` has 26 bits of distance, in
/// units of 4 bytes, below the opcode 0x14000000.
struct Jump {
  std::uint8_t size = 0; ///< in bytes; 0: there is no such instruction
  ByteOrder order = ByteOrder::little;
  std::uint64_t opcode = 0;
  std::uint8_t shift = 0; ///< the distance begins at that bit
  std::uint8_t bits = 0;  ///< of the distance, which is a signed number
  std::uint8_t unit = 1;  ///< of the distance, in bytes
  bool from_end = false;  ///< the distance counts from the instruction's end, not its beginning
};

/// The facts about a CPU architecture. A member that an entry leaves out is not known, or has the
/// value that most architectures have. Another architecture is one more entry in architecture.cpp.
struct Architecture {
  std::string_view name;          ///< Platform::architecture
  std::string_view big_name = {}; ///< the name of its big-endian variant; empty: the same

  // In ELF files. The first architecture that fits a header is the file's.
  std::uint16_t machine = 0; ///< e_machine
  std::uint16_t other_machine = 0;
  std::optional<bool> is_wide = {}; ///< its registers have 64 bits; nullopt: that does not matter
  std::array<FlaggedAbi, 3> abis = {};
  int pointer_alignment = 8;     ///< at the most, in a structure
  int int64_alignment = 8;       ///< of an 8-byte integer in a structure
  bool marked_functions = false; ///< functions of the compact instruction set have odd addresses
  /// Tags of dynamic entries that tell the place of DT_DEBUG's value: one by its address, one by
  /// its distance from the entry itself. 0: there is no such entry.
  std::uint64_t debug_tag = 0;
  std::uint64_t debug_offset_tag = 0;

  // In core files.
  std::uint32_t core_flags = 0; ///< the e_flags that a core without any means
  CoreStatus core_status = {};

  std::array<GdbName, 4> gdb_names = {}; ///< the first that fits counts

  // Registers and stacks.
  std::optional<std::uint16_t> stack_pointer = {}; ///< its number in DWARF
  bool returns_by_stack = false; ///< a function returns to the address at its first stack pointer
  /// The places in a `g` packet. The first ones whose program counter is in the packet count.
  std::array<RegisterPlaces, 2> live_registers = {};
  RegisterPlaces core_registers = {}; ///< pr_reg in a core file
  std::uint64_t red_zone = 128;       ///< bytes below the stack pointer that leaf functions use
  /// Registers that have the first arguments of a call which are integers, in their order. Further
  /// ones stand at the stack pointer, 8 bytes each. By their numbers in DWARF. Empty: not known.
  std::span<const std::uint16_t> argument_registers = {};
  /// Registers that have the same value when a call returns.
  std::span<const std::uint16_t> kept_registers = {};

  // Code.
  /// Instructions that gdb writes as breakpoints where a stub puts none in.
  std::array<std::string_view, 4> traps = {};
  SystemCalls system_calls = {};
  std::string_view landing_pad = {}; ///< beginning of a 4-byte instruction that may precede a jump
  std::array<Jump, 2> jumps = {};
  /// Instructions by which a signal handler returns, if no call frame information shows it.
  std::array<std::string_view, 2> signal_returns = {};
};

std::span<const Architecture> architectures();
/// An unknown architecture has an empty name and no facts.
const Architecture& architecture_of(const Platform& platform);
const Architecture& architecture_of(std::uint16_t machine, bool is_wide);

} // namespace mqbridge
