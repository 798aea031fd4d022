#include "host/mqs/worker/channel.h"

#include <algorithm>
#include <cstring>

namespace mqbridge::worker {

void Channel::await_walk() {
  if (wire::Decoder(receive()).get<wire::Kind>() != wire::Kind::walk)
    sandbox::leave();
}

wire::Decoder Channel::ask(const wire::Encoder& request) {
  send(request);
  wire::Decoder reply(receive());
  if (reply.get<wire::Kind>() != wire::Kind::reply)
    sandbox::leave();
  return reply;
}

bool ParentMemory::fetch(std::uint64_t address, std::span<std::byte> into) {
  while (!into.empty()) {
    const auto size =
        static_cast<std::uint32_t>(std::min<std::size_t>(into.size(), wire::max_fetch));
    auto reply = channel_.ask(wire::Encoder().put(wire::Kind::fetch).put(address).put(size));
    const auto bytes = reply.take(size);
    if (!reply.complete())
      return false;
    std::memcpy(into.data(), bytes.data(), size);
    address += size;
    into = into.subspan(size);
  }
  return true;
}

} // namespace mqbridge::worker
