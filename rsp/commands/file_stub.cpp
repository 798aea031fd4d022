#include "rsp/commands/file_stub.h"

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace mqbridge::rsp {

std::unique_ptr<Client> connect_file_stub(const Client& client, std::int64_t pid,
                                          std::stop_token stop) {
  const auto* const command = std::get_if<CommandEndpoint>(&client.endpoint().where);
  if (command == nullptr || !client.endpoint().text.starts_with("local:"))
    return nullptr;
  // Nobody ends a command that we started. If it hangs, it ends by itself after more time than the
  // largest files take.
  std::vector<std::string> again{"timeout", "600"};
  again.insert(again.end(), command->argv.begin(), command->argv.end());
  const Endpoint endpoint{client.endpoint().text, CommandEndpoint{std::move(again)}, pid};
  constexpr std::chrono::milliseconds patience{5'000}; // the target stands still in the meantime
  auto connected = Client::connect(
      endpoint,
      {.connect_timeout = patience, .silence_timeout = patience, .stop = std::move(stop)});
  if (!connected || !(*connected)->features().vfile)
    return nullptr;
  (*connected)->set_detach_packet("");
  return std::move(*connected);
}

} // namespace mqbridge::rsp
