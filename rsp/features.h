#pragma once

#include <cstddef>
#include <cstdint>

namespace mqbridge::rsp {

/// Which `x` (binary read) the stub has: GDB's replies start with `b`, LLDB's have no prefix.
enum class BinaryRead : std::uint8_t { none, gdb, lldb };

/// What negotiation found out. Defaults are those of a stub that answers nothing.
struct Features {
  std::size_t packet_size = 400; ///< bytes of one packet's payload and framing that the stub takes
  bool no_ack = false;           ///< QStartNoAckMode accepted
  bool multiprocess = false;
  bool qxfer_auxv = false;
  bool qxfer_exec_file = false;
  bool qxfer_features = false;
  bool qxfer_libraries_svr4 = false;
  bool qxfer_osdata = false;
  bool qxfer_threads = false;
  bool vfile = false;    ///< vFile:setfs or open answered
  bool extended = false; ///< vAttach known and `!` accepted
  BinaryRead binary_read = BinaryRead::none;

  /// Bytes of memory that one `m` may ask for: gdbserver does not check, and crashes beyond this.
  std::size_t max_hex_read() const { return (packet_size - 1) / 2; }
};

} // namespace mqbridge::rsp
