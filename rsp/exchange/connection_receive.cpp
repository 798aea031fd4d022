#include "rsp/codes.h"
#include "rsp/exchange/connection.h"
#include "rsp/exchange/connection_wait.h"
#include "rsp/limits.h"
#include "rsp/packet/another_protocol.h"
#include "rsp/packet/hex_digit.h"
#include "rsp/packet/trace.h"

#include <algorithm>
#include <fmt/format.h>

namespace mqbridge::rsp {
namespace {

bool is_console_output(std::string_view payload) {
  return payload.size() > 1 && payload.size() % 2 == 1 && payload.front() == 'O' &&
         std::all_of(payload.begin() + 1, payload.end(), is_hex);
}

bool is_stop_reply(std::string_view payload) {
  return payload.size() >= 3 && std::string_view("TSWX").find(payload[0]) != payload.npos &&
         is_hex(payload[1]) && is_hex(payload[2]);
}

// The reply to LLDB's `x` is the bare memory: it may look like anything.
bool may_be_anything(std::string_view request) {
  return request.starts_with('x');
}

bool asks_for_stop_reply(std::string_view request) {
  return request == "?" || request.starts_with("vAttach");
}

double seconds(Connection::Clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

} // namespace

Result<std::string> Connection::receive_packet(Wait& wait) {
  auto packet = receive(wait);
  if (!packet)
    return forward(std::move(packet));
  return std::string(*packet);
}

/// The packet is the decoder's, until the next one is waited for.
Result<std::string_view> Connection::receive(Wait& wait) {
  for (;;) {
    while (const auto event = decoder_.next()) {
      if (auto result = take(*event, wait))
        return std::move(*result);
    }
    if (auto more = receive_bytes(wait); !more)
      return forward(std::move(more));
  }
}

Connection::Taken Connection::take(const Decoder::Event& event, Wait& wait) {
  switch (event.kind) {
  case Decoder::Kind::packet:
    return take_packet(event.bytes, wait);
  case Decoder::Kind::notification:
    history_.received(fmt::format("%{}", event.bytes));
    return std::nullopt;
  case Decoder::Kind::ack:
    heard_.ack = wait.acked = true;
    return std::nullopt;
  case Decoder::Kind::nack:
    return take_nack(wait);
  case Decoder::Kind::corrupt:
    return take_corrupt(wait);
  case Decoder::Kind::too_long:
    acknowledge(wait);
    if (!is_ours())
      return std::nullopt;
    return failure(codes::stub_too_long,
                   fmt::format("the answer to '{}' is longer than {} bytes", shorten(wait.request),
                               Decoder::default_limit),
                   "no stub should send that: look with --trace FILE at what is there");
  case Decoder::Kind::garbage:
    return take_garbage(event, wait);
  }
  return std::nullopt;
}

void Connection::note_packet(std::string_view payload) {
  heard_.packet = true;
  history_.received(payload);
  if (options_.trace != nullptr)
    options_.trace->packet(options_.name, Trace::Direction::received, payload);
}

Connection::Taken Connection::take_packet(std::string_view payload, const Wait& wait) {
  note_packet(payload);
  acknowledge(wait);
  const bool any = may_be_anything(wait.request);
  if (!any && is_console_output(payload))
    return std::nullopt;
  if (running_ && payload.starts_with('F')) {
    refuse_file_request();
    return std::nullopt;
  }
  // A machine that ran stops when a client comes, and says so unasked (QEMU system).
  if (std::exchange(greeting_, false) && is_stop_reply(payload) &&
      !asks_for_stop_reply(wait.request))
    return std::nullopt;
  if (!is_ours())
    return std::nullopt;
  if (!no_ack_)
    look_for_doubt(wait);
  return payload;
}

// A reply that came twice stands where the next one belongs: then its `+` is missing, or more comes
// behind it than one request brings.
void Connection::look_for_doubt(const Wait& wait) {
  in_doubt_ |= (stub_acks_ && !wait.acked) || decoder_.has_more();
  stub_acks_ |= wait.acked;
}

// The program asked the debugger's host for a file (remote file I/O, semihosting), and waits.
void Connection::refuse_file_request() {
  constexpr std::string_view no_permission = "F-1,1";
  if (const auto frame = gate_.packet(no_permission)) {
    queue(*frame);
    flush();
  }
}

// Replies come in order: those to requests that were given up come first.
bool Connection::is_ours() {
  if (outstanding_ > 0)
    --outstanding_;
  if (stale_ == 0)
    return true;
  --stale_;
  return false;
}

void Connection::acknowledge(const Wait& wait) {
  if (no_ack_)
    return;
  queue(gate_.ack());
  if (!wait.defer_ack)
    flush();
}

Connection::Taken Connection::take_corrupt(Wait& wait) {
  history_.received("(damaged)");
  if (!no_ack_ && ++wait.damaged <= limits::damaged_replies) {
    queue(gate_.nack());
    flush();
    return std::nullopt;
  }
  if (!is_ours())
    return std::nullopt;
  return failure(
      codes::stub_garbage,
      fmt::format("the answer to '{}' is damaged (wrong checksum)", shorten(wait.request)),
      "check the link, a serial one above all; --trace FILE shows every packet");
}

Connection::Taken Connection::take_nack(Wait& wait) {
  if (no_ack_ || !last_frame_)
    return std::nullopt;
  if (++wait.refused > limits::damaged_replies)
    return failure(
        codes::stub_garbage,
        fmt::format("the stub refuses '{}' again and again as damaged", shorten(wait.request)),
        "check the link, a serial one above all; --trace FILE shows every packet");
  out_of_step_ = true; // a `+` damaged on its way looks like this, too: then two answers come
  queue(*last_frame_);
  flush();
  return std::nullopt;
}

Connection::Taken Connection::take_garbage(const Decoder::Event& event, Wait& wait) {
  note_garbage(event);
  wait.garbage += event.length;
  if (!speaks_another_protocol() && wait.garbage <= limits::garbage)
    return std::nullopt;
  return garbage(wait, event.bytes);
}

// Such a server may keep the connection, and let us wait.
bool Connection::speaks_another_protocol() const {
  return !heard_.packet && !another_protocol(heard_.garbage).empty();
}

Failure Connection::garbage(const Wait& wait, std::string_view bytes) const {
  return failure(
      codes::stub_garbage,
      fmt::format("instead of an answer to '{}' came '{}'", shorten(wait.request), shorten(bytes)),
      "no GDB stub speaks so: check host and port");
}

void Connection::note_garbage(const Decoder::Event& event) {
  if (!heard_.packet && heard_.garbage.size() < Decoder::garbage_sample)
    heard_.garbage += event.bytes;
}

/// False: none came, until `at_most` or because a limit has changed.
Result<bool> Connection::receive_bytes(Wait& wait, Clock::time_point at_most) {
  const auto until = patience(wait);
  if (!until) {
    out_of_step_ |= until.error().code == codes::stub_timeout; // is it late, or lost?
    return Failure(until.error());
  }
  auto received = transport_->receive(std::min(*until, at_most));
  // Behind the reception: what came while the connection was ours is ours.
  if (auto ours = look_for_guardian(); !ours)
    return forward(std::move(ours));
  switch (received.kind) {
  case Received::Kind::data:
    arrived_ = wait.last_byte = Clock::now();
    heard_.since = heard_.since.value_or(arrived_);
    counters_.bytes_received += received.bytes.size();
    decoder_.feed(received.bytes);
    return true;
  case Received::Kind::closed: {
    closed_ = true;
    auto words = transport_->last_words();
    return failure("stub.closed",
                   fmt::format("the connection ended while '{}' waited for its answer: {}",
                               shorten(wait.request),
                               words.empty() ? received.bytes : std::string_view(words)),
                   "look at what the stub printed on its node; --trace FILE shows every packet");
  }
  case Received::Kind::timed_out: // patience() says next what ran out
  case Received::Kind::woken:
    break;
  }
  return false;
}

/// The guardian does not give a connection back: it ends.
Result<void> Connection::look_for_guardian() {
  const auto taken = options_.watch.taken_over();
  if (!taken)
    return {};
  closed_ = true;
  if (guardians_deadline_ && *taken >= *guardians_deadline_)
    return fail(codes::stop_limit,
                fmt::format("{}: --max-stop was over while mqbridge was kept from letting the "
                            "process run (by a slow file as a rule), so its guardian has done it",
                            options_.name),
                "raise --max-stop; a slow file system may be that of the executable, --sysroot, "
                "--debug-dir, --trace or ~/.cache/mqbridge");
  return fail("guardian.released",
              fmt::format("{}: mqbridge was suspended while this process was held, so its guardian "
                          "has let the process run",
                          options_.name),
              "run mqbridge again; Ctrl-Z in its terminal waits until nothing is held, a SIGSTOP "
              "does not");
}

/// The next moment at which a limit passes, or the error of the one that has passed.
Result<Connection::Clock::time_point> Connection::patience(const Wait& wait) const {
  const auto now = Clock::now();
  if (wait.unlimited) {
    constexpr std::chrono::hours next_look{1};
    const std::lock_guard lock(limits_mutex_);
    if (cancelled_)
      return fail(codes::interrupted, fmt::format("{}: interrupted", options_.name));
    return now + next_look;
  }
  auto until =
      std::min(wait.last_byte + wait.silence, wait.begun + limits::silences_a_reply * wait.silence);
  if (exempt_until_) {
    until = std::min(until, *exempt_until_);
  } else {
    const std::lock_guard lock(limits_mutex_);
    if (cancelled_) // the user's doing, not the stub's: the last packets explain nothing
      return fail(codes::interrupted, fmt::format("{}: interrupted", options_.name));
    if (deadline_ && now >= *deadline_)
      return failure(codes::stop_limit,
                     fmt::format("the target was to be released now; '{}' had waited {:.1f} s",
                                 shorten(wait.request), seconds(now - wait.begun)),
                     "raise --max-stop to get more");
    if (deadline_)
      until = std::min(until, *deadline_);
  }
  if (now < until)
    return until;
  return failure(codes::stub_timeout,
                 fmt::format("no answer to '{}' within {:.1f} s", shorten(wait.request),
                             seconds(now - wait.begun)),
                 "does the stub still run? On a slow link raise --timeout; --trace FILE shows "
                 "every packet");
}

Failure Connection::failure(std::string_view code, std::string what, std::string hint) const {
  const auto last = history_.text();
  return fail(code,
              fmt::format("{}: {}{}", options_.name, what,
                          last.empty() ? "" : fmt::format(" (last packets: {})", last)),
              std::move(hint));
}

} // namespace mqbridge::rsp
