#include "rsp/client/shared_stub.h"

#include "rsp/client/negotiation.h"
#include "rsp/client/quirks.h"
#include "rsp/codes.h"
#include "rsp/transport/open.h"

#include <chrono>
#include <utility>

namespace mqbridge::rsp {
namespace {

/// Time until the guardian takes over what could not be released. It cannot take over at once: the
/// message reaches it before the connection is given back (Guardian::set_deadline).
constexpr std::chrono::milliseconds guardians_turn{300};

} // namespace

SharedStub::SharedStub(const Endpoint& endpoint, std::unique_ptr<Transport> transport,
                       GuardianWatch watch, const ClientOptions& options)
    : connection_(std::move(transport), {.name = endpoint.text,
                                         .silence_timeout = options.silence_timeout,
                                         .trace = options.trace,
                                         .watch = watch}),
      stop_(options.stop) {}

SharedStub::~SharedStub() {
  if (connection_.closed() || connection_.holds().detach_packets().empty())
    connection_.released();
  else // we say no more here, and the guardian shall not wait until this process ends
    connection_.holds().set_guardians_deadline(std::chrono::steady_clock::now() + guardians_turn);
}

Result<std::shared_ptr<SharedStub>> SharedStub::open(const Endpoint& endpoint,
                                                     const ClientOptions& options) {
  auto opened = open_transport(
      endpoint, {std::chrono::steady_clock::now() + options.connect_timeout, options.stop},
      options.guardian);
  if (!opened)
    return forward(std::move(opened));
  return std::shared_ptr<SharedStub>(
      new SharedStub(endpoint, std::move(opened->transport), opened->watch, options));
}

std::shared_ptr<SharedStub> SharedStub::over(std::unique_ptr<Transport> transport,
                                             const Endpoint& endpoint,
                                             const ClientOptions& options) {
  return std::shared_ptr<SharedStub>(new SharedStub(endpoint, std::move(transport), {}, options));
}

Result<void> SharedStub::negotiate(Opening& opening) {
  const std::stop_callback cancel(stop_, [this] { connection_.cancel(); });
  auto negotiated = rsp::negotiate(connection_, opening);
  if (!negotiated) {
    const bool given_up_by_us = codes::given_up_by_us(negotiated.error().code);
    const bool silent = !connection_.heard().packet && !connection_.heard().ack;
    if (!given_up_by_us && silent)
      connection_.released(); // there is no stub that could release anything
    return forward(std::move(negotiated));
  }
  features_ = std::move(*negotiated);
  usable_ = true;
  if (quirks_of(features_.kind).closing_releases)
    connection_.holds().set_closing_releases();
  return {};
}

void SharedStub::recover() {
  selected_ = 0;
  const auto again = negotiate_again(connection_, features_);
  usable_ = again && *again;
}

void SharedStub::let_speak(Speaker& speaker) {
  const std::lock_guard lock(speaker_mutex_);
  if (speaker_ == &speaker)
    return;
  settle_costs();
  speaker_ = &speaker;
  connection_.set_name(speaker.name);
  connection_.set_deadline(speaker.deadline);
}

void SharedStub::forget(Speaker& speaker) {
  const std::lock_guard lock(speaker_mutex_);
  if (speaker_ != &speaker)
    return;
  settle_costs();
  speaker_ = nullptr;
}

Counters SharedStub::costs_of(const Speaker& speaker) const {
  return speaker_ == &speaker ? speaker.costs + (connection_.counters() - settled_) : speaker.costs;
}

void SharedStub::settle_costs() {
  if (speaker_ != nullptr)
    speaker_->costs = costs_of(*speaker_);
  settled_ = connection_.counters();
}

void SharedStub::set_deadline(Speaker& speaker,
                              std::optional<Connection::Clock::time_point> deadline) {
  const std::lock_guard lock(speaker_mutex_);
  speaker.deadline = deadline;
  if (speaker_ == &speaker)
    connection_.set_deadline(deadline);
}

} // namespace mqbridge::rsp
