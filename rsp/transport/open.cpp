#include "rsp/transport/open.h"

#include "rsp/transport/connect.h"
#include "rsp/transport/socket_transport.h"
#include "rsp/transport/subprocess.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <system_error>

namespace mqbridge::rsp {
namespace {

class CommandTransport final : public Transport {
public:
  CommandTransport(UniqueFd fd, Subprocess subprocess)
      : socket_(fd.release()), subprocess_(std::move(subprocess)) {}

  void send(const Outgoing& bytes) override { socket_.send(bytes); }
  Received receive(Clock::time_point deadline) override { return socket_.receive(deadline); }
  void wake() override { socket_.wake(); }
  std::string last_words() override { return subprocess_.last_words(); }

private:
  SocketTransport socket_;
  Subprocess subprocess_;
};

Result<OpenTransport> start_command(const Endpoint& endpoint, const CommandEndpoint& command,
                                    Guardian* guardian) {
  // One socket for both directions: the guardian can read and write with the one duplicate it gets.
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail("connect.failed",
                fmt::format("cannot make a socket pair for {}: {}", endpoint.text,
                            std::generic_category().message(errno)),
                "raise the limit of open files (ulimit -n)");
  UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  auto watch = Watch::begin(guardian, ours.get());
  if (!watch)
    return forward(std::move(watch));
  auto subprocess = Subprocess::start(endpoint, command, std::move(theirs));
  if (!subprocess) {
    watch->forget();
    return forward(std::move(subprocess));
  }
  return OpenTransport{std::make_unique<CommandTransport>(std::move(ours), std::move(*subprocess)),
                       *watch};
}

} // namespace

Result<OpenTransport> open_transport(const Endpoint& endpoint, std::chrono::milliseconds timeout,
                                     Guardian* guardian) {
  if (const auto* command = std::get_if<CommandEndpoint>(&endpoint.where))
    return start_command(endpoint, *command, guardian);
  const auto* tcp = std::get_if<TcpEndpoint>(&endpoint.where);
  auto connected = tcp != nullptr ? connect_tcp(endpoint, *tcp, timeout, guardian)
                                  : connect_unix(endpoint, std::get<UnixEndpoint>(endpoint.where),
                                                 timeout, guardian);
  if (!connected)
    return forward(std::move(connected));
  return OpenTransport{adopt_socket(connected->fd.release()), connected->watch};
}

} // namespace mqbridge::rsp
