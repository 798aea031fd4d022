#include "tests/e2e/harness/relay.h"

#include "tests/support/wire_watch.h"

#include <array>
#include <poll.h>
#include <sys/socket.h>
#include <system_error>

namespace mqbridge::e2e {
namespace {

// One chunk of what has come in; empty at the end.
std::string take_chunk(int from) {
  std::string chunk(4096, '\0');
  const ssize_t got = recv(from, chunk.data(), chunk.size(), 0);
  chunk.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return chunk;
}

// Nothing of it is a packet, but the beginnings of packets are in it.
std::string nonsense(std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i)
    bytes += "$}*\x03#zz\xff%"[i % 9];
  return bytes;
}

} // namespace

test::ServerMode mode_for(std::size_t bytes_from_server) {
  constexpr std::size_t negotiation_and_first_stop = 2000;
  return bytes_from_server < negotiation_and_first_stop ? test::ServerMode::attach_once
                                                        : test::ServerMode::attach;
}

Relay::Relay(std::uint16_t server_port, std::size_t bytes_from_server, RelayFault fault)
    : server_port_(server_port), bytes_from_server_(bytes_from_server), fault_(fault),
      listener_([this](int client) { serve(client); }) {}

void Relay::serve(int client) {
  try {
    const LoopbackSocket server = connect_loopback(server_port_);
    pass(client, server.get());
  } catch (const std::system_error&) {
    // The server has gone: the client sees its connection closed.
  }
}

void Relay::pass(int client, int server) {
  std::array<pollfd, 2> sides = {pollfd{client, POLLIN, 0}, pollfd{server, POLLIN, 0}};
  test::WireWatch watch;
  std::size_t passed = 0;
  while (poll(sides.data(), sides.size(), -1) > 0) {
    if (sides[0].revents != 0) {
      const std::string chunk = take_chunk(client);
      if (chunk.empty())
        return;
      watch.read_along(chunk);
      send_all(server, chunk);
    }
    if (sides[1].revents == 0)
      continue;
    const std::string chunk = take_chunk(server);
    if (chunk.empty())
      return;
    if (passed < bytes_from_server_) {
      send_all(client, chunk);
      passed += chunk.size();
      continue;
    }
    faulty_ = true;
    if (fault_ == RelayFault::close)
      return;
    if (fault_ == RelayFault::garbage)
      send_all(client, nonsense(chunk.size()));
  }
}

} // namespace mqbridge::e2e
