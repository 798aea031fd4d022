#include "tests/e2e/harness/run_to_signal.h"

#include "tests/e2e/harness/loopback.h"
#include "tests/support/eventually.h"
#include "tests/support/stub_wire.h"

#include <poll.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>

namespace mqbridge::e2e {
namespace {

// Reads until a stop reply is whole; false when the time is over or the server has gone.
bool await_stop_reply(int socket, std::chrono::milliseconds timeout) {
  std::string seen;
  return test::eventually(timeout, [&] {
    char chunk[512];
    pollfd ready = {socket, POLLIN, 0};
    if (poll(&ready, 1, 50) == 1) {
      const ssize_t got = recv(socket, chunk, sizeof chunk, 0);
      if (got > 0)
        seen.append(chunk, static_cast<std::size_t>(got));
    }
    const std::size_t start = seen.find("$T");
    return start != std::string::npos && seen.find('#', start) != std::string::npos &&
           seen.size() >= seen.find('#', start) + 3;
  });
}

} // namespace

void run_to_signal(std::uint16_t port, std::chrono::milliseconds timeout) {
  const LoopbackSocket socket = connect_loopback(port);
  // '?' first: a server answers nothing sensible before it knows that a client asks about its
  // process.
  send_all(socket.get(), test::frame("?"));
  if (!await_stop_reply(socket.get(), timeout))
    throw std::runtime_error("the spawned process is not held");
  send_all(socket.get(), "+" + test::frame("c"));
  if (!await_stop_reply(socket.get(), timeout))
    throw std::runtime_error("the spawned process raised no signal");
  send_all(socket.get(), "+");
}

} // namespace mqbridge::e2e
