#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace mqbridge::rsp {

class Client;

/// /proc/PID/mem of the target, open at the stub (vFile:pread). It brings bytes without hexadecimal
/// digits and without run-length encoding, for half the work of `m`. Only for gdbserver, which
/// reads the file as the process's tracer; before version 18 it refuses offsets of 2 GiB and more.
///
/// The file costs no round trip of its own. The path may lead into another name space, so one page
/// is read both ways before the file is believed. Opening and this check leave with bursts that are
/// made anyhow. One process; one thread at a time.
class MemoryFile {
public:
  /// A burst for so many bytes begins. Once enough was read in all, the request to open the file
  /// leaves with it.
  void begin_burst(Client& client, std::size_t bytes);

  /// Whether a piece like this is to be read through the file.
  bool serves(std::uint64_t address, std::size_t length) const;
  /// Whether this piece is to be read both ways. If so, take_check() or skip_check() must follow
  /// before the next piece is checked.
  bool begin_check(std::uint64_t address, std::size_t length);

  /// Appends the packet that asks the file for this piece.
  void append_request(std::string& payload, std::uint64_t address, std::size_t length) const;
  /// Takes the file's answer for a piece that another packet has brought whole. `is_there` tells
  /// whether given bytes are those that the other packet brought. No answer is an error.
  void take_check(std::uint64_t address, std::size_t length, std::string_view reply,
                  const std::function<bool(std::string_view bytes)>& is_there);
  /// The other packet did not bring the whole piece: the answer tells nothing.
  void skip_check() { checking_ = false; }

  /// The target may run or is left: returns the packet that closes the file, if it is open, and
  /// begins anew.
  std::optional<std::string> leave(Client& client);

private:
  void take_descriptor(Client& client);
  bool is_high(std::uint64_t address, std::size_t length) const;

  std::size_t read_ = 0; ///< bytes, in every way
  std::string open_;     ///< the packet that opens the file; empty until it was asked for
  std::optional<std::uint64_t> descriptor_;
  bool checking_ = false;     ///< an answer to compare is on its way
  bool right_ = false;        ///< the file has brought the same bytes as `m`
  bool wrong_ = false;        ///< there is no such file, or it is another process's
  bool high_refused_ = false; ///< the stub refuses offsets of 2 GiB and more
  bool high_works_ = false;
};

} // namespace mqbridge::rsp
