#include "rsp/transport/open.h"

#include "rsp/codes.h"
#include "rsp/packet/gate.h"
#include "rsp/transport/connect.h"
#include "rsp/transport/serial_transport.h"
#include "rsp/transport/socket_transport.h"
#include "rsp/transport/subprocess.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <sys/socket.h>
#include <system_error>

namespace mqbridge::rsp {
namespace {

class CommandTransport final : public Transport {
public:
  CommandTransport(std::unique_ptr<Transport> stdio, Subprocess subprocess,
                   const CommandEndpoint& command)
      : stdio_(std::move(stdio)), subprocess_(std::move(subprocess)),
        prod_every_(command.prod_every), may_kill_(command.holds_nothing_yet) {}
  ~CommandTransport() override {
    if (may_kill_)
      subprocess_.kill();
  }

  void send(const Outgoing& bytes) override { stdio_->send(bytes); }
  Received receive(Clock::time_point deadline) override;
  void wake() override { stdio_->wake(); }
  LinkLimits limits() const override { return stdio_->limits(); }
  void end() override { stdio_->end(); }
  void released() override { stdio_->released(); }
  std::string last_words() override { return subprocess_.last_words(); }

private:
  Received receive_now(Clock::time_point deadline);

  std::unique_ptr<Transport> stdio_;
  Subprocess subprocess_;
  const std::chrono::milliseconds prod_every_;
  bool may_kill_; ///< until it has answered
};

Received CommandTransport::receive(Clock::time_point deadline) {
  const auto received = receive_now(deadline);
  may_kill_ = may_kill_ && received.kind != Received::Kind::data;
  return received;
}

/// Sends an acknowledgement at intervals (CommandEndpoint::prod_every). The stub does not mind: in
/// no-ack mode it ignores each of them, in ack mode each repeated one.
Received CommandTransport::receive_now(Clock::time_point deadline) {
  if (prod_every_ == std::chrono::milliseconds(0))
    return stdio_->receive(deadline);
  while (true) {
    const auto next = std::min(deadline, Clock::now() + prod_every_);
    const auto received = stdio_->receive(next);
    if (received.kind != Received::Kind::timed_out || next == deadline)
      return received;
    stdio_->send(Gate(read_only_policy()).ack());
  }
}

Result<OpenTransport> start_command(const Endpoint& endpoint, const CommandEndpoint& command,
                                    Guardian* guardian) {
  // One socket serves both directions: the guardian reads and writes with the one duplicate it
  // gets.
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(codes::connect_failed,
                fmt::format("cannot make a socket pair for {}: {}", endpoint.text,
                            std::generic_category().message(errno)),
                "raise the limit of open files (ulimit -n)");
  UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  auto watch = GuardianWatch::begin(guardian, ours.get());
  if (!watch)
    return forward(std::move(watch));
  auto transport = SocketTransport::adopt(std::move(ours));
  if (!transport) {
    watch->forget();
    return forward(std::move(transport));
  }
  auto subprocess = Subprocess::start(endpoint, command, std::move(theirs));
  if (!subprocess) {
    watch->forget();
    return forward(std::move(subprocess));
  }
  return OpenTransport{
      std::make_unique<CommandTransport>(std::move(*transport), std::move(*subprocess), command),
      *watch};
}

Result<OpenTransport> open_serial(const Endpoint& endpoint, const SerialEndpoint& where,
                                  Guardian* guardian) {
  auto transport = SerialTransport::open(endpoint, where);
  if (!transport)
    return forward(std::move(transport));
  auto watch = GuardianWatch::begin(guardian, (*transport)->guarded_descriptor());
  if (!watch) {
    (*transport)->released(); // nothing was sent: the line gets its settings back
    return forward(std::move(watch));
  }
  return OpenTransport{std::move(*transport), *watch};
}

} // namespace

Result<OpenTransport> open_transport(const Endpoint& endpoint, const ConnectLimits& limits,
                                     Guardian* guardian) {
  if (const auto* command = std::get_if<CommandEndpoint>(&endpoint.where))
    return start_command(endpoint, *command, guardian);
  if (const auto* serial = std::get_if<SerialEndpoint>(&endpoint.where))
    return open_serial(endpoint, *serial, guardian);
  const auto* tcp = std::get_if<TcpEndpoint>(&endpoint.where);
  auto connected = tcp != nullptr ? connect_tcp(endpoint, *tcp, limits, guardian)
                                  : connect_unix(endpoint, std::get<UnixEndpoint>(endpoint.where),
                                                 limits, guardian);
  if (!connected)
    return forward(std::move(connected));
  auto transport = SocketTransport::adopt(std::move(connected->fd));
  if (!transport) {
    connected->watch.forget();
    return forward(std::move(transport));
  }
  return OpenTransport{std::move(*transport), connected->watch};
}

} // namespace mqbridge::rsp
