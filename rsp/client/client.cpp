#include "rsp/client/client.h"

#include "rsp/client/asked_ahead.h"
#include "rsp/client/detach.h"
#include "rsp/client/memory_file.h"
#include "rsp/client/opening.h"
#include "rsp/client/process_life.h"
#include "rsp/client/quirks.h"
#include "rsp/client/shared_stub.h"
#include "rsp/exchange/connection.h"
#include "rsp/exchange/preceded_burst.h"
#include "rsp/packet/hex.h"
#include "rsp/packet/packet_history.h"
#include "rsp/packet/stop_reply.h"

#include <fmt/format.h>
#include <utility>

namespace mqbridge::rsp {

struct Client::Impl {
  std::shared_ptr<SharedStub> stub;
  Endpoint endpoint;
  SharedStub::Speaker speaker;
  std::string detach_packet = {};
  std::int64_t pid = 0; ///< to be selected; 0: there is nothing to select
  std::int64_t tid = 0;
  AskedAhead ahead = {};
  MemoryFile memory_file = {};
  ProcessLife life = {};

  bool must_select() const { return pid != 0 && stub->selected() != pid; }
  Result<std::vector<std::string>> burst_of_missing(std::span<const std::string> payloads);
  Result<std::vector<std::string>> exchange(const std::vector<std::string>& payloads);
  Result<void> stream_behind(Burst& burst);
  Result<void> take_first(const std::vector<std::string>& requests,
                          std::vector<std::string> replies, bool selects);
  std::string select_request() const { return fmt::format("Hgp{:x}.{:x}", pid, tid); }
  Failure lost(std::string_view reply) const;
};

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Client::~Client() {
  auto& connection = impl_->stub->connection();
  // The guardian keeps what cannot be released here. We do not wait for a stub that has not said a
  // word yet.
  const bool speaks = connection.heard().packet || connection.heard().ack;
  if (speaks && !connection.running() && !detach_packet().empty() && !connection.closed())
    (void)detach(*this);
  impl_->stub->forget(impl_->speaker);
}

namespace {

/// Keeps the answers for whoever asks. The guardian learns at once which process is held: the
/// connection may be lost before the rest has come.
class ClientOpening final : public Opening {
public:
  ClientOpening(Client& client, AskedAhead& ahead) : client_(client), ahead_(ahead) {}

  std::vector<std::string> questions(const Features& features) override {
    return opening_questions(features, client_.endpoint().pid.has_value());
  }
  void heard(const Features& features, const std::string& question, std::string answer) override {
    const auto stop = question == "?" ? parse_stop_reply(answer) : StopReply();
    if (features.multiprocess && !client_.endpoint().pid && stop && stop->pid &&
        stop->kind == StopReply::Kind::stopped)
      client_.set_detach_packet(fmt::format("D;{:x}", *stop->pid));
    ahead_.keep(question, std::move(answer));
  }

private:
  Client& client_;
  AskedAhead& ahead_;
};

} // namespace

Result<std::unique_ptr<Client>> Client::connect(const Endpoint& endpoint,
                                                const ClientOptions& options) {
  auto stub = SharedStub::open(endpoint, options);
  if (!stub)
    return forward(std::move(stub));
  auto client = share(*stub, endpoint);
  client->impl_->speaker.costs = (*stub)->connection().counters(); // of connecting
  // A gdbserver holds its target from before we came: from the first byte on it has to be released.
  client->set_detach_packet("D");
  (*stub)->let_speak(client->impl_->speaker);
  ClientOpening opening(*client, client->impl_->ahead);
  if (auto negotiated = (*stub)->negotiate(opening); !negotiated)
    return forward(std::move(negotiated));
  return client;
}

std::unique_ptr<Client> Client::share(std::shared_ptr<SharedStub> stub, const Endpoint& endpoint) {
  return std::unique_ptr<Client>(new Client(std::unique_ptr<Impl>(
      new Impl{.stub = std::move(stub), .endpoint = endpoint, .speaker = {endpoint.text}})));
}

const Endpoint& Client::endpoint() const {
  return impl_->endpoint;
}
const Features& Client::features() const {
  return impl_->stub->features();
}
std::chrono::steady_clock::time_point Client::heard_since() const {
  return impl_->stub->connection().heard().since.value_or(std::chrono::steady_clock::now());
}
Counters Client::counters() const {
  return impl_->stub->costs_of(impl_->speaker);
}
const std::shared_ptr<SharedStub>& Client::stub() const {
  return impl_->stub;
}

Result<std::string> Client::request(std::string_view payload) {
  if (auto known = impl_->ahead.take(payload))
    return std::move(*known);
  if (!impl_->must_select() && !impl_->ahead.has_due())
    return request_unselected(payload);
  const std::string one(payload);
  auto replies = burst({&one, 1});
  if (!replies)
    return forward(std::move(replies));
  return std::move(replies->front());
}

Result<std::string> Client::request_unselected(std::string_view payload) {
  impl_->stub->let_speak(impl_->speaker);
  auto along = impl_->ahead.take_due({});
  if (along.empty()) {
    auto reply = impl_->stub->connection().request(payload);
    if (!reply)
      impl_->stub->set_selected(0);
    return reply;
  }
  along.emplace_back(payload);
  auto replies = impl_->stub->connection().burst(along);
  if (!replies) {
    impl_->stub->set_selected(0);
    return forward(std::move(replies));
  }
  for (std::size_t i = 0; i + 1 < along.size(); ++i)
    impl_->ahead.answered(along[i], std::move((*replies)[i]));
  return std::move(replies->back());
}

Result<std::string> Client::request_last(std::string_view payload,
                                         std::chrono::milliseconds silence) {
  impl_->stub->let_speak(impl_->speaker);
  const auto along = impl_->ahead.take_due({});
  auto replies = impl_->stub->connection().request_last(along, payload, silence);
  if (!replies) {
    impl_->stub->set_selected(0);
    return forward(std::move(replies));
  }
  if (replies->size() == along.size() + 1)
    for (std::size_t i = 0; i < along.size(); ++i)
      impl_->ahead.answered(along[i], std::move((*replies)[i]));
  return std::move(replies->back());
}

Result<std::vector<std::string>> Client::burst(std::span<const std::string> payloads) {
  if (payloads.empty() && !impl_->ahead.has_due())
    return std::vector<std::string>();
  if (!impl_->ahead.idle() || impl_->must_select())
    return impl_->burst_of_missing(payloads);
  impl_->stub->let_speak(impl_->speaker);
  auto replies = impl_->stub->connection().burst(payloads);
  if (!replies)
    impl_->stub->set_selected(0); // we no longer know which process the stub has selected
  return replies;
}

/// Asks for the payloads whose answers are not there yet.
Result<std::vector<std::string>>
Client::Impl::burst_of_missing(std::span<const std::string> payloads) {
  std::vector<std::string> replies(payloads.size());
  std::vector<std::string> asked;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    if (auto known = ahead.take(payloads[i])) {
      replies[i] = std::move(*known);
      continue;
    }
    asked.push_back(payloads[i]);
    places.push_back(i);
  }
  if (asked.empty() && !payloads.empty())
    return replies;
  stub->let_speak(speaker);
  auto answers = exchange(asked);
  if (!answers) {
    stub->set_selected(0);
    ahead.forget();
    return answers;
  }
  for (std::size_t i = 0; i < places.size(); ++i)
    replies[places[i]] = std::move((*answers)[i]);
  return replies;
}

/// Sends one burst: the selection of the process, what was asked ahead, and `payloads`.
Result<std::vector<std::string>> Client::Impl::exchange(const std::vector<std::string>& payloads) {
  const auto due = ahead.take_due(payloads);
  std::vector<std::string> all;
  const bool selects = must_select();
  if (selects)
    all.push_back(select_request());
  all.insert(all.end(), due.begin(), due.end());
  all.insert(all.end(), payloads.begin(), payloads.end());
  auto replies = stub->connection().burst(all);
  if (!replies)
    return replies;
  auto next = replies->begin();
  if (selects) {
    if (*next != "OK")
      return lost(*next);
    stub->set_selected(pid);
    ++next;
  }
  for (const auto& payload : due)
    ahead.answered(payload, std::move(*next++));
  replies->erase(replies->begin(), next);
  return replies;
}

Failure Client::Impl::lost(std::string_view reply) const {
  return fail("process.lost",
              fmt::format("{}: the server does not know process {} any more: it answered '{}'",
                          endpoint.text, pid, shorten(reply)),
              "look whether the process still runs; another debugger may have taken it");
}

void Client::ask_ahead(std::string payload) {
  if (asks_ahead())
    impl_->ahead.ask(std::move(payload));
}

bool Client::asks_ahead() const {
  return features().no_ack || quirks_of(features().kind).padded_bursts;
}

bool Client::answered_ahead(std::string_view payload) const {
  return impl_->ahead.has(payload);
}

std::optional<std::string> Client::answer_ahead(std::string_view payload) {
  return impl_->ahead.take(payload);
}

void Client::send_along(std::string payload) {
  impl_->ahead.post(std::move(payload));
}

MemoryFile& Client::memory_file() {
  return impl_->memory_file;
}

const ProcessLife& Client::life() const {
  return impl_->life;
}
ProcessLife& Client::life() {
  return impl_->life;
}

void Client::forget_ahead() {
  if (auto close = impl_->memory_file.leave(*this))
    send_along(std::move(*close));
  impl_->ahead.forget();
}

Result<void> Client::stream(Burst& burst) {
  impl_->stub->let_speak(impl_->speaker);
  auto done = impl_->stream_behind(burst);
  if (!done) {
    impl_->stub->set_selected(0);
    impl_->ahead.forget();
  }
  return done;
}

/// The burst is sent behind the selection of the process and behind what was asked ahead.
Result<void> Client::Impl::stream_behind(Burst& burst) {
  std::vector<std::string> first;
  const bool selects = must_select();
  if (selects)
    first.push_back(select_request());
  for (auto& due : ahead.take_due({}))
    first.push_back(std::move(due));
  if (first.empty())
    return stub->connection().stream(burst);
  PrecededBurst all(
      first, stub->connection().step_check(),
      [&](std::vector<std::string> replies) {
        return take_first(first, std::move(replies), selects);
      },
      burst);
  return stub->connection().stream(all);
}

Result<void> Client::Impl::take_first(const std::vector<std::string>& requests,
                                      std::vector<std::string> replies, bool selects) {
  if (selects && replies.front() != "OK")
    return lost(replies.front());
  if (selects)
    stub->set_selected(pid);
  for (std::size_t i = selects ? 1 : 0; i < requests.size(); ++i)
    ahead.answered(requests[i], std::move(replies[i]));
  return {};
}

LinkEstimate Client::link_estimate() const {
  return impl_->stub->connection().link_estimate();
}

void Client::set_deadline(std::optional<std::chrono::steady_clock::time_point> deadline) {
  impl_->stub->set_deadline(impl_->speaker, deadline);
}

void Client::cancel() {
  impl_->stub->connection().cancel();
}

Connection& Client::connection() {
  return impl_->stub->connection();
}

void Client::set_process(std::int64_t pid, std::int64_t tid) {
  impl_->pid = pid;
  impl_->tid = tid;
}

std::int64_t Client::process() const {
  return impl_->pid;
}

bool Client::selected() const {
  return !impl_->must_select();
}

std::optional<std::uint64_t> Client::held_process() const {
  constexpr std::string_view detach = "D;";
  const std::string_view packet = impl_->detach_packet;
  return packet.starts_with(detach) ? parse_hex(packet.substr(detach.size())) : std::nullopt;
}

void Client::set_detach_packet(const std::string& payload) {
  const std::string before = std::exchange(impl_->detach_packet, payload);
  if (payload == before)
    return;
  if (!payload.empty())
    connection().holds().add_detach_packet(payload);
  // The old packet is dropped afterwards, so that there always is one.
  if (!before.empty())
    connection().holds().drop_detach_packet(before);
}

const std::string& Client::detach_packet() const {
  return impl_->detach_packet;
}

void Client::released() {
  impl_->ahead.forget();
  set_detach_packet("");
  if (impl_->pid != 0 && impl_->stub->selected() == impl_->pid)
    impl_->stub->set_selected(0);
  impl_->pid = 0;
}

} // namespace mqbridge::rsp
