#pragma once

#include "tests/e2e/harness/loopback.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace mqbridge::e2e {

/// What a relay does once its time has come: keeps the server's words to itself, closes both sides,
/// or sends as many bytes of nonsense instead.
enum class RelayFault { silent, close, garbage };

/// Passes bytes both ways between a client and a gdbserver, until so many bytes have come from the
/// server. What the client says always reaches the server.
class Relay {
public:
  Relay(std::uint16_t server_port, std::size_t bytes_from_server, RelayFault fault);

  std::string endpoint() const { return listener_.endpoint(); }
  /// Whether the server has said something that was not passed on.
  bool faulty() const { return faulty_; }

private:
  void serve(int client);
  void pass(int client, int server);

  std::uint16_t server_port_;
  std::size_t bytes_from_server_;
  RelayFault fault_;
  std::atomic<bool> faulty_ = false;
  FakeServer listener_; // last: its thread uses the rest
};

} // namespace mqbridge::e2e
