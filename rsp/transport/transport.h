#pragma once

#include "rsp/packet/gate.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mqbridge::rsp {

/// What Transport::receive brought.
struct Received {
  enum class Kind : std::uint8_t {
    data,      ///< `bytes` came from the stub
    timed_out, ///< nothing came until the deadline
    woken,     ///< wake() was called
    closed,    ///< the stub has closed, or the connection broke; `bytes` says how. For ever
  };
  Kind kind = Kind::timed_out;
  std::string_view bytes; ///< the transport's own, until the next receive()
};

/// Bytes that a transport's kernel takes in one send when nothing is unsent: if we die, no request
/// is cut in half as long as less than this is unanswered.
inline constexpr std::size_t min_send_buffer = std::size_t{128} << 10;

/// What is known of a link beforehand.
struct LinkLimits {
  std::size_t send_buffer = min_send_buffer; ///< bytes, as min_send_buffer
  std::size_t bytes_per_second = 0;          ///< each way; 0: not known, and not a slow one
};

/// A duplex byte stream to one stub. Reading goes on while writing: a stub that blocks on its
/// replies cannot deadlock with us. One thread at a time, never the I/O thread; wake() is for any
/// thread.
class Transport {
public:
  using Clock = std::chrono::steady_clock;

  virtual ~Transport() = default; ///< closes

  /// Never blocks: what the kernel does not take is kept and sent when it does. A broken connection
  /// shows in receive().
  virtual void send(const Outgoing& bytes) = 0;
  virtual Received receive(Clock::time_point deadline) = 0;
  virtual void wake() = 0;

  virtual LinkLimits limits() const { return {}; }

  /// Ends the stream for everybody who holds its descriptor, the guardian too. Only sockets can do
  /// so.
  virtual void end() {}

  /// The guardian has nothing left to send on it.
  virtual void released() {}

  /// The stderr of a stub started here, and how it ended; empty for others. May wait a moment for a
  /// process that is about to end.
  virtual std::string last_words() { return {}; }
};

} // namespace mqbridge::rsp
