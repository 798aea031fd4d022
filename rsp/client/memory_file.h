#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace mqbridge::rsp {

class Client;

/// /proc/PID/mem of the target, open at the stub (vFile:pread): bytes without digits and without
/// run-length encoding, for half the work of `m`. Of gdbserver only, which reads it as the tracer
/// that it is; before version 18 it refuses offsets of 2 GiB and more.
///
/// Costs no round trip: opening it, and the one page that is read both ways before it is believed
/// (the path may lead into another name space), leave with bursts that are made anyhow. One
/// process; one thread at a time.
class MemoryFile {
public:
  /// A burst for so many bytes begins. Once enough is read this way, the file is asked for along
  /// with it.
  void begin_burst(Client& client, std::size_t bytes);

  /// Whether a piece like this is to be read through the file.
  bool serves(std::uint64_t address, std::size_t length) const;
  /// Whether it is to be read both ways. Then take_check() or skip_check() follows, and until then
  /// no other is.
  bool begin_check(std::uint64_t address, std::size_t length);

  /// Appends the packet that asks the file for this piece.
  void append_request(std::string& payload, std::uint64_t address, std::size_t length) const;
  /// The file's answer for a piece that another packet has brought whole. `is_there` tells whether
  /// these bytes are what that one brought. Whatever the answer is, it is no error.
  void take_check(std::uint64_t address, std::size_t length, std::string_view reply,
                  const std::function<bool(std::string_view bytes)>& is_there);
  /// That packet did not bring all of it: nothing is learnt from the answer.
  void skip_check() { checking_ = false; }

  /// The target may run or is left: the packet that closes the file, if it is open. From here on
  /// all begins anew.
  std::optional<std::string> leave(Client& client);

private:
  void take_descriptor(Client& client);
  bool is_high(std::uint64_t address, std::size_t length) const;

  std::size_t read_ = 0; ///< bytes, all ways
  std::string open_;     ///< the packet that opens it, from when it was asked
  std::optional<std::uint64_t> descriptor_;
  bool checking_ = false;     ///< an answer to compare is on its way
  bool right_ = false;        ///< it has brought what `m` brings
  bool wrong_ = false;        ///< it is not there, or another one
  bool high_refused_ = false; ///< at 2 GiB and beyond
  bool high_works_ = false;
};

} // namespace mqbridge::rsp
