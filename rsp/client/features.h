#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mqbridge::rsp {

/// Which `x` (binary read) the stub has: GDB's replies start with `b`, LLDB's have no prefix.
enum class BinaryRead : std::uint8_t { none, gdb, lldb };

/// Which program answers, as far as mqbridge can tell: by its announcement, and by its answers to
/// harmless questions that only one of these programs knows (rsp/client/quirks.h).
enum class StubKind : std::uint8_t {
  unknown,
  gdbserver,
  qemu_user,
  qemu_system,
  lldb_server,
  openocd,
  vgdb,
  rr,
  gdbstub, ///< the Rust library, in emulators and kernels
};

/// What a stub does with its stopped target when it loses its client without a detach packet. When
/// mqbridge dies, the guardian still sends that packet; when this machine or the network is lost,
/// nobody does.
enum class LostLink : std::uint8_t {
  unknown,
  runs,
  stays,   ///< stopped
  depends, ///< on how the stub was started
};

/// What the bridge announces to who looks beside a debugger.
inline constexpr std::string_view held_feature = "mqbridge-held+";

/// What negotiation found out. Defaults are those of a stub that answers nothing.
struct Features {
  std::size_t packet_size = 400; ///< bytes of one packet's payload and framing that the stub takes
  bool no_ack = false;           ///< QStartNoAckMode accepted; never asked for on a serial line
  bool multiprocess = false;
  bool held = false; ///< a debugger holds the process: this stub is the bridge's (held_feature)
  bool qxfer_auxv = false;
  bool qxfer_exec_file = false;
  bool qxfer_features = false;
  bool qxfer_libraries_svr4 = false;
  bool qxfer_osdata = false;
  bool qxfer_threads = false;
  bool vfile = false; ///< vFile:setfs or open answered
  BinaryRead binary_read = BinaryRead::none;
  bool multi_mem_read = false; ///< LLDB's MultiMemRead; only ever announced, never probed
  /// A read that fails is answered with zeros (OpenOCD): a zero there is no NULL pointer.
  bool unreadable_reads_zero = false;

  StubKind kind = StubKind::unknown;
  std::string stub_name = "unknown stub"; ///< for messages
  std::string stub_version;               ///< empty: it does not say
  LostLink lost_link = LostLink::unknown;
  std::size_t longest_read = 0; ///< bytes of one `m`; 0: as many as fit into packet_size

  /// Bytes of memory that one `m` may ask for: gdbserver does not check, and crashes beyond this.
  std::size_t max_hex_read() const {
    return longest_read != 0 ? longest_read : (packet_size - 1) / 2;
  }
};

/// Bytes of an object that one qXfer packet asks this stub for.
std::size_t object_piece_size(const Features& features);

/// The packet that asks for the piece at `offset`: `qXfer:OBJECT:read:ANNEX:OFFSET,LENGTH`.
std::string object_piece_request(const Features& features, std::string_view object,
                                 std::string_view annex, std::size_t offset);

} // namespace mqbridge::rsp
