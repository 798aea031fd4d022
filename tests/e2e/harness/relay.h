#pragma once

#include "tests/e2e/harness/loopback.h"
#include "tests/support/gdb_server.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace mqbridge::e2e {

/// What a relay does once its time has come: keeps the server's words to itself, closes both sides,
/// or sends as many bytes of nonsense instead.
enum class RelayFault { silent, close, garbage };

/// How to start a server whose replies get lost after so many bytes. A plain `--attach` server lets
/// go for `D;PID` only, and tells the PID with its first stop reply; before that only a `--once`
/// server can be left without harm.
test::ServerMode mode_for(std::size_t bytes_from_server);

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
