#pragma once

#include "host/confined/messages.h"
#include "host/disk/file_descriptor.h"

#include <array>
#include <cstddef>
#include <span>

namespace mqbridge::sandbox {

/// Ends the process: without a parent, or with one whose messages make no sense, a confined process
/// has nothing left to do.
[[noreturn]] void leave();

/// Its end of the socket to its parent. Every call ends the process (leave()) when the parent is
/// gone.
class ParentChannel {
public:
  explicit ParentChannel(int socket) : socket_(socket) {}

  void send(std::span<const std::byte> message);
  void send(const wire::Encoder& message) { send(message.message()); }

  /// The next message of the parent; valid until the next call.
  std::span<const std::byte> receive();
  /// The same, with the descriptor that came along, if one did.
  std::span<const std::byte> receive(FileDescriptor& descriptor);
  /// The same, without the kind at the beginning of the message.
  template <class Kind>
  wire::Decoder receive(Kind& kind, FileDescriptor& descriptor) {
    wire::Decoder message(receive(descriptor));
    kind = message.get<Kind>();
    return message;
  }

private:
  int socket_;
  std::array<std::byte, wire::max_message> buffer_;
};

} // namespace mqbridge::sandbox
