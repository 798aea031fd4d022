#include "rsp/commands/file_stub.h"

#include <utility>

namespace mqbridge::rsp {

std::unique_ptr<Client> connect_file_stub(const Client& client, std::int64_t pid,
                                          std::stop_token stop) {
  if (!client.endpoint().text.starts_with("local:"))
    return nullptr;
  // Nobody ends a command that we started. One that hangs ends by itself, after longer than the
  // largest files take.
  const Endpoint endpoint{
      client.endpoint().text,
      CommandEndpoint{{"timeout", "600", "gdbserver", "--once", "--multi", "-"}}, pid};
  constexpr std::chrono::milliseconds patience{5'000}; // the target stands still meanwhile
  auto connected = Client::connect(
      endpoint,
      {.connect_timeout = patience, .silence_timeout = patience, .stop = std::move(stop)});
  if (!connected || !(*connected)->features().vfile)
    return nullptr;
  (*connected)->set_detach_packet("");
  return std::move(*connected);
}

} // namespace mqbridge::rsp
