#include "host/mqs/worker/channel.h"

#include <unistd.h>

namespace mqbridge::worker {
namespace {

[[noreturn]] void leave() {
  ::_exit(1);
}

} // namespace

void Channel::send(std::span<const std::byte> message) {
  if (!wire::send_message(socket_, message, true))
    leave();
}

std::span<const std::byte> Channel::receive() {
  auto received = wire::receive_message(socket_, buffer_, true);
  if (received.outcome != wire::Received::Outcome::message)
    leave();
  return received.message;
}

std::span<const std::byte> Channel::receive_start(int& descriptor) {
  auto received = wire::receive_with_descriptor(socket_, buffer_, descriptor);
  if (received.outcome != wire::Received::Outcome::message)
    leave();
  return received.message;
}

void Channel::await_walk() {
  if (wire::Decoder(receive()).get<wire::Kind>() != wire::Kind::walk)
    leave();
}

wire::Decoder Channel::ask(const wire::Encoder& request) {
  send(request.message());
  wire::Decoder reply(receive());
  if (reply.get<wire::Kind>() != wire::Kind::reply)
    leave();
  return reply;
}

} // namespace mqbridge::worker
