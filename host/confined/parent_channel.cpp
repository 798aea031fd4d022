#include "host/confined/parent_channel.h"

#include <unistd.h>

namespace mqbridge::sandbox {
namespace {

std::span<const std::byte> whole(const wire::Received& received) {
  if (received.outcome != wire::Received::Outcome::message)
    leave();
  return received.message;
}

} // namespace

void leave() {
  ::_exit(1);
}

void ParentChannel::send(std::span<const std::byte> message) {
  if (!wire::send_message(socket_, message, true))
    leave();
}

std::span<const std::byte> ParentChannel::receive() {
  return whole(wire::receive_message(socket_, buffer_, true));
}

std::span<const std::byte> ParentChannel::receive(FileDescriptor& descriptor) {
  int received_descriptor = -1;
  const auto received = wire::receive_with_descriptor(socket_, buffer_, received_descriptor);
  descriptor = FileDescriptor(received_descriptor);
  return whole(received);
}

} // namespace mqbridge::sandbox
