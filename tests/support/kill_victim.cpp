// Attaches to a target as mqbridge does and reads from it for ever, until a test kills it.
//   kill_victim GUARDIAN|- ENDPOINT
// Says "starting" before it connects and "attached" once it is. "-" goes without a guardian.

#include "rsp/client.h"
#include "rsp/commands/attach.h"
#include "rsp/commands/memory.h"
#include "rsp/commands/threads.h"
#include "rsp/commands/vfile.h"
#include "rsp/guardian.h"

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

/// Small and large reads, short packets and long bursts: a kill hits one of them.
Result<void> read_for_ever(Client& client, std::int64_t pid) {
  constexpr std::size_t maps_limit = 1 << 20;
  auto maps = read_file(client, "/proc/" + std::to_string(pid) + "/maps", maps_limit);
  if (!maps)
    return forward(std::move(maps));
  const std::uint64_t address = mapped_address(*maps);
  std::vector<std::byte> bytes(4096);
  while (true) {
    std::vector<ReadRequest> requests;
    for (std::size_t i = 0; i < 2000; ++i)
      requests.push_back({address + i % 512, std::span(bytes).first(8 + i % 1024)});
    if (auto read = read_memory(client, requests); !read)
      return read;
    if (auto threads = read_threads(client); !threads)
      return forward(std::move(threads));
  }
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: kill_victim GUARDIAN|- ENDPOINT\n");
    return 2;
  }
  const auto endpoint = Endpoint::parse(argv[2]);
  if (!endpoint)
    return give_up(endpoint.error());
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
  auto client = Client::connect(*endpoint, options);
  if (!client)
    return give_up(client.error());
  const auto attachment = attach(**client);
  if (!attachment)
    return give_up(attachment.error());
  std::fprintf(stderr, "attached\n");
  const auto read = read_for_ever(**client, attachment->pid);
  return give_up(read.error());
}
