#include "rsp/exchange/connection.h"

#include "rsp/exchange/connection_wait.h"
#include "rsp/packet/trace.h"

#include <algorithm>
#include <fmt/format.h>

namespace mqbridge::rsp {
namespace {

// A stub that never stops talking is for the limits of the next exchange to end.
constexpr int max_leftover_chunks = 16;
constexpr std::size_t longest_slow_reply = 64;

} // namespace

Connection::Connection(std::unique_ptr<Transport> transport, ConnectionOptions options)
    : transport_(std::move(transport)), options_(std::move(options)), gate_(*options_.policy) {
  counters_.round_trips = 1; // connecting
  // On a slow link a stub seems silent while its requests are still on their way.
  if (const LinkLimits link = transport_->limits(); link.bytes_per_second != 0) {
    options_.silence_timeout +=
        std::chrono::milliseconds(1000 * link.send_buffer / link.bytes_per_second);
    constexpr double digits_per_byte = 2;
    meter_.expect_rate(static_cast<double>(link.bytes_per_second) / digits_per_byte);
  }
}

Result<std::string> Connection::request_once(std::string_view payload) {
  if (auto ready = begin(); !ready)
    return forward(std::move(ready));
  const bool alone = outstanding_ == 0;
  if (auto sent = send_packet(payload); !sent)
    return forward(std::move(sent));
  const auto begun = Clock::now();
  flush();
  Wait wait(payload, options_.silence_timeout);
  auto reply = receive_packet(wait);
  // On a slow link even a short reply takes its time.
  const bool is_slow = transport_->limits().bytes_per_second != 0;
  const std::size_t longest = is_slow ? longest_slow_reply : longest_short_reply;
  if (reply && alone && reply->size() <= longest)
    meter_.round_trip(arrived_ - begun);
  return reply;
}

void Connection::set_closing_releases() {
  closing_releases_ = true;
  options_.watch.set_manner(guardian::Manner::leave);
}

Result<std::string> Connection::resume(std::string_view payload) {
  // A stop that came twice would be taken for the next one, of a target that runs.
  if (auto sure = confirm_step(); !sure)
    return forward(std::move(sure));
  if (auto ready = begin(); !ready)
    return forward(std::move(ready));
  // The guardian knows first: what it sends to a stopped target is lost on one that runs.
  if (!closing_releases_)
    options_.watch.set_manner(guardian::Manner::wait);
  if (auto sent = send_packet(payload); !sent)
    return forward(std::move(sent));
  running_ = true;
  leave_packet_.clear();
  flush();
  Wait wait(payload, options_.silence_timeout);
  wait.unlimited = true;
  auto reply = receive_packet(wait);
  if (reply) {
    running_ = false;
    if (!closing_releases_)
      options_.watch.set_manner(guardian::Manner::detach);
  }
  return reply;
}

Result<void> Connection::resume_and_leave(std::string_view payload,
                                          std::chrono::milliseconds limit) {
  if (auto ready = begin(); !ready)
    return ready;
  heard_.ack = false;
  if (auto sent = send_packet(payload); !sent)
    return sent;
  running_ = true;
  flush();
  // Whoever closes with an acknowledgement on its way resets the connection, and QEMU's process
  // then ends by SIGPIPE when it next has something to say.
  const auto until = Clock::now() + limit;
  while (!heard_.ack && Clock::now() < until) {
    const auto received = transport_->receive(until);
    if (received.kind == Received::Kind::closed) {
      closed_ = true;
      break;
    }
    counters_.bytes_received += received.bytes.size();
    decoder_.feed(received.bytes);
    while (const auto event = decoder_.next())
      heard_.ack |= event->kind == Decoder::Kind::ack;
  }
  return {};
}

void Connection::close() {
  transport_->end();
  closed_ = true;
}

Connection::Exemption Connection::exempt(std::string_view farewell,
                                         std::chrono::milliseconds limit) {
  const bool again = farewell_said_ == farewell;
  farewell_said_ = farewell;
  exempt_until_ = Clock::now() + (again ? std::chrono::milliseconds(0) : limit);
  options_.watch.keep();
  return Exemption(*this);
}

void Connection::set_deadline(std::optional<Clock::time_point> deadline) {
  {
    const std::lock_guard lock(limits_mutex_);
    deadline_ = deadline;
  }
  transport_->wake();
}

void Connection::set_guardians_deadline(std::optional<Clock::time_point> deadline) {
  guardians_deadline_ = deadline;
  options_.watch.set_deadline(deadline);
}

std::optional<Connection::Clock::duration> Connection::time_left() {
  if (exempt_until_)
    return std::nullopt;
  const std::lock_guard lock(limits_mutex_);
  if (!deadline_)
    return std::nullopt;
  return *deadline_ - Clock::now();
}

void Connection::cancel() {
  {
    const std::lock_guard lock(limits_mutex_);
    cancelled_ = true;
  }
  transport_->wake();
}

void Connection::add_detach_packet(const std::string& payload) {
  drop_detach_packet(payload);
  detach_packets_.push_back(payload);
  options_.watch.add_detach_packet(payload);
}

void Connection::drop_detach_packet(const std::string& payload) {
  if (std::erase(detach_packets_, payload) != 0)
    options_.watch.drop_detach_packet(payload);
  if (farewell_said_ == payload)
    farewell_said_.clear(); // it has gone: who has its name next has a farewell of its own
}

void Connection::released() {
  detach_packets_.clear();
  if (!options_.watch.taken_over()) // else the guardian still speaks on it
    transport_->released();
  options_.watch.forget();
}

void Connection::greet() {
  queue(gate_.ack());
  greeting_ = true;
}

Result<void> Connection::begin() {
  if (running_)
    return failure("target.running", "the target runs: nothing may be asked now", "");
  if (outstanding_ == 0)
    skip_leftovers();
  stale_ = outstanding_;
  in_doubt_ = confirmed_ = false;
  if (auto ours = look_for_guardian(); !ours)
    return ours;
  const Wait wait("the next packet", options_.silence_timeout);
  if (const auto until = patience(wait); !until)
    return Failure(until.error());
  if (speaks_another_protocol())
    return garbage(wait, heard_.garbage);
  return {};
}

// What came though nothing was asked (a duplicate, a late notification) must not answer the next
// request.
void Connection::skip_leftovers() {
  for (int chunk = 0; chunk < max_leftover_chunks; ++chunk) {
    auto received = transport_->receive(Clock::now());
    if (received.kind != Received::Kind::data)
      break;
    counters_.bytes_received += received.bytes.size();
    decoder_.feed(received.bytes);
  }
  while (const auto event = decoder_.next()) {
    heard_.ack |= event->kind == Decoder::Kind::ack;
    if (event->kind == Decoder::Kind::garbage)
      note_garbage(*event);
    if (event->kind != Decoder::Kind::packet)
      continue;
    if (padding_)
      padding_->out_of_step = true;
    history_.received(event->bytes);
    if (!no_ack_)
      queue(gate_.ack());
  }
}

Result<void> Connection::send_packet(std::string_view payload) {
  auto frame = gate_.packet(payload);
  if (!frame)
    return forward(std::move(frame));
  if (outstanding_++ == 0)
    ++counters_.round_trips;
  ++counters_.requests;
  history_.sent(payload);
  if (options_.trace != nullptr)
    options_.trace->packet(options_.name, Trace::Direction::sent, payload);
  if (!no_ack_)
    last_frame_ = *frame;
  queue(*frame);
  return {};
}

void Connection::queue(const Outgoing& bytes) {
  counters_.bytes_sent += bytes.bytes().size();
  if (pending_)
    pending_->append(bytes);
  else
    pending_ = bytes;
}

void Connection::flush() {
  if (!pending_)
    return;
  transport_->send(*pending_);
  pending_.reset();
}

} // namespace mqbridge::rsp
