// Attaches to a target as mqbridge does and reads from it for ever, until a test kills it.
//   kill_victim GUARDIAN|- ENDPOINT...
// Says "starting" before it connects and "attached" once it is. "-" goes without a guardian.
// Several endpoints are processes of one server, attached at the same time and read by turns.

#include "rsp/client/client.h"
#include "rsp/commands/attach.h"
#include "rsp/commands/read_memory.h"
#include "rsp/commands/threads.h"
#include "rsp/commands/vfile.h"
#include "rsp/guardian/guardian.h"

#include <charconv>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace mqbridge;
using namespace mqbridge::rsp;

int give_up(const Error& error) {
  std::fprintf(stderr, "%s\n", error.message.c_str());
  return 1;
}

/// The first mapping: the program's own text.
std::uint64_t mapped_address(const std::string& maps) {
  std::uint64_t address = 0;
  std::from_chars(maps.data(), maps.data() + maps.size(), address, 16);
  return address;
}

struct Held {
  std::unique_ptr<Client> client;
  std::uint64_t address = 0;
};

Result<Held> hold(std::unique_ptr<Client> client) {
  const auto attachment = attach(*client);
  if (!attachment)
    return Failure(attachment.error());
  constexpr std::size_t maps_limit = 1 << 20;
  auto maps = read_file(*client, "/proc/" + std::to_string(attachment->pid) + "/maps", maps_limit);
  if (!maps)
    return forward(std::move(maps));
  return Held{std::move(client), mapped_address(*maps)};
}

/// Small and large reads, short packets and long bursts: a kill hits one of them.
Result<void> read_for_ever(std::vector<Held>& all) {
  std::vector<std::byte> bytes(4096);
  while (true) {
    for (Held& held : all) {
      std::vector<ReadRequest> requests;
      for (std::size_t i = 0; i < 2000; ++i)
        requests.push_back({held.address + i % 512, std::span(bytes).first(8 + i % 1024)});
      if (auto read = read_memory(*held.client, requests); !read)
        return read;
      if (auto threads = read_threads(*held.client); !threads)
        return forward(std::move(threads));
    }
  }
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: kill_victim GUARDIAN|- ENDPOINT...\n");
    return 2;
  }
  std::unique_ptr<Guardian> guardian;
  if (std::string_view(argv[1]) != "-") {
    auto started = Guardian::start(argv[1]);
    if (!started)
      return give_up(started.error());
    guardian = std::move(*started);
  }
  std::fprintf(stderr, "starting\n");
  ClientOptions options;
  options.guardian = guardian.get();
  std::vector<Held> all;
  for (int i = 2; i < argc; ++i) {
    const auto endpoint = Endpoint::parse(argv[i]);
    if (!endpoint)
      return give_up(endpoint.error());
    Result<std::unique_ptr<Client>> client =
        all.empty() ? Client::connect(*endpoint, options)
                    : Client::share(all.front().client->stub(), *endpoint);
    if (!client)
      return give_up(client.error());
    auto held = hold(std::move(*client));
    if (!held)
      return give_up(held.error());
    all.push_back(std::move(*held));
  }
  std::fprintf(stderr, "attached\n");
  return give_up(read_for_ever(all).error());
}
