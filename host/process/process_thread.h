#pragma once

#include "rsp/packet/register_bytes.h"

#include <cstdint>
#include <optional>
#include <string>

namespace mqbridge {

/// The order of the bytes in ProcessThread::registers, and the numbering of its signal.
enum class RegisterLayout : std::uint8_t {
  gdb,    ///< reply to `g`: registers in the order of the stub's target description
  kernel, ///< pr_reg of a core's NT_PRSTATUS: those of <sys/user.h>, in its order
};

/// One thread of a stopped process. Example: on x86_64 the program counter stands at byte 128 in
/// both layouts, the stack pointer at byte 56 (gdb) or 152 (kernel).
struct ProcessThread {
  std::int64_t tid = 0;
  std::string name; ///< as the stub gives it; empty: not told. Cores have none
  RegisterLayout layout = RegisterLayout::gdb;
  /// In the target's byte order. nullopt: they could not be read. A single byte that is nullopt is
  /// not available: the stub writes `xx` for it. Cores have all bytes.
  std::optional<rsp::RegisterBytes> registers;
  /// The signal that stopped it; 0: none, or not told. `layout` gdb: in GDB's numbers, and only for
  /// the thread that the stub names when it says that the process has stopped. kernel: in the
  /// target's numbers.
  int signal = 0;
};

} // namespace mqbridge
