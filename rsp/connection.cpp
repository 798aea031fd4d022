#include "rsp/connection.h"

#include "rsp/connection_wait.h"
#include "rsp/trace.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace mqbridge::rsp {
namespace {

// Reply bytes, and requests, that may be outstanding in a burst: enough for the longest links that
// occur (10 ms at 100 MB/s), and little enough for any stub's memory.
constexpr std::size_t window_bytes = std::size_t{1} << 20;
constexpr std::size_t window_requests = 4096;
// Bytes of requests that the stub has not answered: always less than a socket takes in one send
// (min_send_buffer). Should we be killed, no half packet lies in the stream: gdbserver 13.1 ends
// the process it started over an `m` that is cut before its comma.
constexpr std::size_t window_request_bytes = min_send_buffer / 4;
// A stub that never stops talking is for the limits of the next exchange to end.
constexpr int max_leftover_chunks = 16;

constexpr std::size_t frame_overhead = 4; // $, # and the checksum

std::size_t hex_field(std::string_view list, std::size_t index) {
  for (; index > 0; --index) {
    const auto comma = list.find(',');
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  std::size_t value = 0;
  std::from_chars(list.data(), list.data() + list.size(), value, 16);
  return std::min(value, window_bytes);
}

/// How many bytes the reply may have, at the most for reads, roughly for others.
std::size_t reply_estimate(std::string_view request) {
  constexpr std::size_t overhead = 64;
  constexpr std::size_t other = 1024;
  if (request.starts_with('m'))
    return overhead + 2 * hex_field(request, 1);
  if (request.starts_with('x'))
    return overhead + hex_field(request, 1);
  if (request.starts_with("vFile:pread:"))
    return overhead + hex_field(request, 1);
  return other;
}

} // namespace

Connection::Connection(std::unique_ptr<Transport> transport, ConnectionOptions options)
    : transport_(std::move(transport)), options_(std::move(options)), gate_(*options_.policy) {
  counters_.round_trips = 1; // connecting
}

Result<std::string> Connection::request(std::string_view payload) {
  if (auto ready = begin(); !ready)
    return forward(std::move(ready));
  if (auto sent = send_packet(payload); !sent)
    return forward(std::move(sent));
  flush();
  Wait wait(payload, options_.silence_timeout);
  return receive_packet(wait);
}

Result<std::vector<std::string>> Connection::burst(std::span<const std::string> payloads) {
  if (auto ready = begin(); !ready)
    return forward(std::move(ready));
  if (no_ack_)
    return pipeline(payloads);
  std::vector<std::string> replies;
  for (const auto& payload : payloads) {
    if (auto sent = send_packet(payload); !sent)
      return forward(std::move(sent));
    flush();
    Wait wait(payload, options_.silence_timeout);
    // Its `+` leaves with the next request: alone it would cost 40 ms behind a relay with Nagle's
    // algorithm.
    wait.defer_ack = &payload != &payloads.back();
    auto reply = receive_packet(wait);
    if (!reply) {
      flush();
      return forward(std::move(reply));
    }
    replies.push_back(std::move(*reply));
  }
  return replies;
}

Result<std::vector<std::string>> Connection::pipeline(std::span<const std::string> payloads) {
  std::vector<std::string> replies;
  replies.reserve(payloads.size());
  std::size_t sent = 0;
  std::size_t owed = 0;
  std::size_t unanswered = 0; // bytes of requests
  while (replies.size() < payloads.size()) {
    // Refilled when half empty, so that many requests share one send.
    if (owed <= window_bytes / 2 && sent - replies.size() <= window_requests / 2) {
      while (sent < payloads.size() && owed < window_bytes && unanswered < window_request_bytes &&
             sent - replies.size() < window_requests) {
        if (auto ok = send_packet(payloads[sent]); !ok) {
          flush();
          return forward(std::move(ok));
        }
        unanswered += payloads[sent].size() + frame_overhead;
        owed += reply_estimate(payloads[sent++]);
      }
      flush();
    }
    const std::string& answered = payloads[replies.size()];
    Wait wait(answered, options_.silence_timeout);
    auto reply = receive_packet(wait);
    if (!reply)
      return forward(std::move(reply));
    replies.push_back(std::move(*reply));
    owed -= reply_estimate(answered);
    unanswered -= answered.size() + frame_overhead;
  }
  return replies;
}

Result<void> Connection::interrupt() {
  auto bytes = gate_.interrupt();
  if (!bytes)
    return forward(std::move(bytes));
  if (outstanding_ == 0)
    ++counters_.round_trips;
  // A running gdbserver has eaten what was asked before: nothing is owed but the stop.
  outstanding_ = stale_ = 0;
  owes_stop_ = true;
  history_.sent("\x03");
  if (options_.trace != nullptr)
    options_.trace->packet(options_.name, Trace::Direction::sent, "\x03");
  queue(*bytes);
  flush();
  return {};
}

Result<std::string> Connection::receive_stop_reply(std::chrono::milliseconds timeout) {
  Wait wait("the interrupt", timeout);
  wait.stop_only = true;
  return receive_packet(wait);
}

Connection::Exemption Connection::exempt(std::chrono::milliseconds limit) {
  exempt_until_ = Clock::now() + limit;
  return Exemption(*this);
}

void Connection::set_deadline(std::optional<Clock::time_point> deadline) {
  {
    const std::lock_guard lock(limits_mutex_);
    deadline_ = deadline;
  }
  transport_->wake();
}

void Connection::cancel() {
  {
    const std::lock_guard lock(limits_mutex_);
    cancelled_ = true;
  }
  transport_->wake();
}

void Connection::set_detach_packet(std::string payload) {
  detach_packet_ = std::move(payload);
  options_.watch.set_detach_packet(detach_packet_);
}

void Connection::released() {
  detach_packet_.clear();
  options_.watch.forget();
}

void Connection::greet() {
  queue(gate_.ack());
}

Result<void> Connection::begin() {
  if (outstanding_ == 0)
    skip_leftovers();
  stale_ = outstanding_;
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
