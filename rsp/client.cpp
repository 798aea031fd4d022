#include "rsp/client.h"

#include "rsp/commands/attach.h"
#include "rsp/packet_history.h"
#include "rsp/server.h"

#include <fmt/format.h>
#include <utility>

namespace mqbridge::rsp {

struct Client::Impl {
  std::shared_ptr<Server> server;
  Endpoint endpoint;
  Server::Speaker speaker;
  std::string detach_packet = {};
  std::int64_t pid = 0; ///< to be selected; 0: there is nothing to select
  std::int64_t tid = 0;

  bool must_select() const { return pid != 0 && server->selected() != pid; }
  Result<std::vector<std::string>> burst_selecting(std::span<const std::string> payloads);
};

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Client::~Client() {
  auto& connection = impl_->server->connection();
  // What this cannot release stays with the guardian; nor is it for us to wait for a stub that has
  // not said a word yet.
  const bool speaks = connection.heard().packet || connection.heard().ack;
  if (speaks && !connection.running() && !detach_packet().empty() && !connection.closed())
    (void)detach(*this);
  impl_->server->forget(impl_->speaker);
}

Result<std::unique_ptr<Client>> Client::connect(const Endpoint& endpoint,
                                                const ClientOptions& options) {
  auto server = Server::open(endpoint, options);
  if (!server)
    return forward(std::move(server));
  auto client = share(*server, endpoint);
  client->impl_->speaker.costs = (*server)->connection().counters(); // of connecting
  // A gdbserver holds its target from before we came: from the first byte on it has to be released.
  client->set_detach_packet("D");
  (*server)->let_speak(client->impl_->speaker);
  if (auto negotiated = (*server)->negotiate(); !negotiated)
    return forward(std::move(negotiated));
  return client;
}

std::unique_ptr<Client> Client::share(std::shared_ptr<Server> server, const Endpoint& endpoint) {
  return std::unique_ptr<Client>(new Client(std::unique_ptr<Impl>(
      new Impl{.server = std::move(server), .endpoint = endpoint, .speaker = {endpoint.text}})));
}

const Endpoint& Client::endpoint() const {
  return impl_->endpoint;
}
const Features& Client::features() const {
  return impl_->server->features();
}
Counters Client::counters() const {
  return impl_->server->costs_of(impl_->speaker);
}
const std::shared_ptr<Server>& Client::server() const {
  return impl_->server;
}

Result<std::string> Client::request(std::string_view payload) {
  if (!impl_->must_select())
    return request_unselected(payload);
  const std::string one(payload);
  auto replies = burst({&one, 1});
  if (!replies)
    return forward(std::move(replies));
  return std::move(replies->front());
}

Result<std::string> Client::request_unselected(std::string_view payload) {
  impl_->server->let_speak(impl_->speaker);
  auto reply = impl_->server->connection().request(payload);
  if (!reply)
    impl_->server->set_selected(0);
  return reply;
}

Result<std::vector<std::string>> Client::burst(std::span<const std::string> payloads) {
  impl_->server->let_speak(impl_->speaker);
  auto replies = impl_->must_select() ? impl_->burst_selecting(payloads)
                                      : impl_->server->connection().burst(payloads);
  if (!replies)
    impl_->server->set_selected(0); // where the stub stands is not known any more
  return replies;
}

Result<std::vector<std::string>>
Client::Impl::burst_selecting(std::span<const std::string> payloads) {
  std::vector<std::string> selected{fmt::format("Hgp{:x}.{:x}", pid, tid)};
  selected.insert(selected.end(), payloads.begin(), payloads.end());
  auto replies = server->connection().burst(selected);
  if (!replies)
    return replies;
  if (replies->front() != "OK") {
    return fail("process.lost",
                fmt::format("{}: the server does not know process {} any more: it answered '{}'",
                            endpoint.text, pid, shorten(replies->front())),
                "look whether the process still runs; another debugger may have taken it");
  }
  server->set_selected(pid);
  replies->erase(replies->begin());
  return replies;
}

void Client::set_deadline(std::optional<std::chrono::steady_clock::time_point> deadline) {
  impl_->server->set_deadline(impl_->speaker, deadline);
}

void Client::cancel() {
  impl_->server->connection().cancel();
}

Connection& Client::connection() {
  return impl_->server->connection();
}

void Client::set_process(std::int64_t pid, std::int64_t tid) {
  impl_->pid = pid;
  impl_->tid = tid;
}

std::int64_t Client::process() const {
  return impl_->pid;
}

void Client::set_detach_packet(const std::string& payload) {
  const std::string before = std::exchange(impl_->detach_packet, payload);
  if (payload == before)
    return;
  if (!payload.empty())
    connection().add_detach_packet(payload);
  // Afterwards, so that there is always one.
  if (!before.empty())
    connection().drop_detach_packet(before);
}

const std::string& Client::detach_packet() const {
  return impl_->detach_packet;
}

void Client::released() {
  set_detach_packet("");
  if (impl_->pid != 0 && impl_->server->selected() == impl_->pid)
    impl_->server->set_selected(0);
  impl_->pid = 0;
}

} // namespace mqbridge::rsp
