#pragma once

#include "host/mqs/wire.h"

#include <array>
#include <cstddef>
#include <span>

namespace mqbridge::worker {

/// The worker's end of the socket to the parent. Without a parent there is nothing left to do:
/// every call ends the process when the parent is gone.
class Channel {
public:
  explicit Channel(int socket) : socket_(socket) {}

  void send(std::span<const std::byte> message);
  /// The next message of the parent; valid until the next call.
  std::span<const std::byte> receive();
  /// The first message, with the descriptor that came along; -1: none did.
  std::span<const std::byte> receive_start(int& descriptor);
  /// Until the parent lets the walk begin.
  void await_walk();
  /// Sends a request and returns the contents of its reply; valid until the next call.
  wire::Decoder ask(const wire::Encoder& request);

private:
  int socket_;
  std::array<std::byte, wire::max_message> buffer_;
};

} // namespace mqbridge::worker
