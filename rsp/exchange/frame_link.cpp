#include "rsp/exchange/frame_link.h"

#include "rsp/packet/another_protocol.h"
#include "rsp/packet/trace.h"

#include <fmt/format.h>
#include <utility>

namespace mqbridge::rsp {

FrameLink::FrameLink(std::unique_ptr<Transport> transport, std::string name, Trace* trace,
                     const Policy& policy)
    : transport_(std::move(transport)), name_(std::move(name)), trace_(trace), gate_(policy) {}

Result<void> FrameLink::queue_request(std::string_view payload) {
  auto frame = gate_.packet(payload);
  if (!frame)
    return forward(std::move(frame));
  ++counters_.requests;
  history_.sent(payload);
  if (trace_ != nullptr)
    trace_->packet(name_, Trace::Direction::sent, payload);
  if (!no_ack_)
    last_frame_ = *frame;
  queue(*frame);
  return {};
}

Result<void> FrameLink::queue_interrupt() {
  const auto byte = gate_.interrupt();
  if (!byte)
    return Failure(byte.error());
  queue(*byte);
  return {};
}

void FrameLink::queue_answer(std::string_view payload) {
  if (const auto frame = gate_.packet(payload))
    queue(*frame);
}

void FrameLink::queue(const Outgoing& bytes) {
  counters_.bytes_sent += bytes.bytes().size();
  if (pending_)
    pending_->append(bytes);
  else
    pending_ = bytes;
}

void FrameLink::flush() {
  if (!pending_)
    return;
  transport_->send(*pending_);
  pending_.reset();
}

Received FrameLink::receive(Clock::time_point until) {
  const Received received = transport_->receive(until);
  if (received.kind == Received::Kind::closed)
    closed_ = true;
  if (received.kind != Received::Kind::data)
    return received;
  heard_.last = Clock::now();
  heard_.since = heard_.since.value_or(heard_.last);
  counters_.bytes_received += received.bytes.size();
  decoder_.feed(received.bytes);
  return received;
}

std::optional<Decoder::Event> FrameLink::next() {
  auto event = decoder_.next();
  if (event)
    note(*event);
  return event;
}

void FrameLink::note(const Decoder::Event& event) {
  switch (event.kind) {
  case Decoder::Kind::packet:
    heard_.packet = true;
    history_.received(event.bytes);
    if (trace_ != nullptr)
      trace_->packet(name_, Trace::Direction::received, event.bytes);
    break;
  case Decoder::Kind::notification:
    history_.received(fmt::format("%{}", event.bytes));
    break;
  case Decoder::Kind::ack:
    heard_.ack = true;
    break;
  case Decoder::Kind::corrupt:
    history_.received("(damaged)");
    break;
  case Decoder::Kind::garbage:
    if (!heard_.packet && heard_.garbage.size() < Decoder::garbage_sample)
      heard_.garbage += event.bytes;
    break;
  case Decoder::Kind::nack:
  case Decoder::Kind::too_long:
    break;
  }
}

void FrameLink::close() {
  transport_->end();
  closed_ = true;
}

bool FrameLink::speaks_another_protocol() const {
  return !heard_.packet && !another_protocol(heard_.garbage).empty();
}

Failure FrameLink::failure(std::string_view code, std::string_view what, std::string hint) const {
  const auto last = history_.text();
  return fail(code,
              fmt::format("{}: {}{}", name_, what,
                          last.empty() ? "" : fmt::format(" (last packets: {})", last)),
              std::move(hint));
}

} // namespace mqbridge::rsp
