#include "rsp/client.h"

#include "rsp/commands/attach.h"
#include "rsp/commands/attach_refusal.h"
#include "rsp/connection.h"
#include "rsp/negotiation.h"
#include "rsp/transport/open.h"

#include <utility>

namespace mqbridge::rsp {

struct Client::Impl {
  Endpoint endpoint;
  Connection connection;
  Features features;
};

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Client::~Client() {
  auto& connection = impl_->connection;
  // What this cannot release stays with the guardian; nor is it for us to wait for a stub that has
  // not said a word yet.
  const bool speaks = connection.heard().packet || connection.heard().ack;
  if (speaks && !connection.running() && !connection.detach_packet().empty() &&
      !connection.closed())
    (void)detach(*this);
  if (connection.closed())
    connection.released();
}

Result<std::unique_ptr<Client>> Client::connect(const Endpoint& endpoint,
                                                const ClientOptions& options) {
  auto opened = open_transport(
      endpoint, {std::chrono::steady_clock::now() + options.connect_timeout, options.stop},
      options.guardian);
  if (!opened)
    return forward(std::move(opened));
  std::unique_ptr<Client> client(new Client(std::unique_ptr<Impl>(
      new Impl{endpoint,
               Connection(std::move(opened->transport), {.name = endpoint.text,
                                                         .silence_timeout = options.silence_timeout,
                                                         .trace = options.trace,
                                                         .watch = opened->watch}),
               {}})));
  Connection& connection = client->connection();
  // A gdbserver holds its target from before we came: from the first byte on it has to be released.
  connection.set_detach_packet("D");
  const std::stop_callback cancel(options.stop, [&connection] { connection.cancel(); });
  auto features = negotiate(connection);
  if (!features) {
    const std::string_view code = features.error().code;
    const bool given_up_by_us = code == "interrupted" || code == "stop.limit";
    if (!given_up_by_us && !connection.heard().packet && !connection.heard().ack)
      connection.released(); // nothing there that could be told to release anything
    return Failure(explain_failed_start(endpoint, std::move(features).error()));
  }
  client->impl_->features = *features;
  // It crashes over a second `D` in one read, and dies of SIGPIPE over one sent while its process
  // runs.
  if (features->kind == StubKind::qemu_user)
    connection.set_closing_releases();
  return client;
}

const Endpoint& Client::endpoint() const {
  return impl_->endpoint;
}
const Features& Client::features() const {
  return impl_->features;
}
Counters Client::counters() const {
  return impl_->connection.counters();
}

Result<std::string> Client::request(std::string_view payload) {
  return impl_->connection.request(payload);
}

Result<std::vector<std::string>> Client::burst(std::span<const std::string> payloads) {
  return impl_->connection.burst(payloads);
}

void Client::set_deadline(std::optional<std::chrono::steady_clock::time_point> deadline) {
  impl_->connection.set_deadline(deadline);
}

void Client::cancel() {
  impl_->connection.cancel();
}

Connection& Client::connection() {
  return impl_->connection;
}

} // namespace mqbridge::rsp
