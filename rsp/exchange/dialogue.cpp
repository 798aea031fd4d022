#include "rsp/exchange/dialogue.h"

#include "rsp/codes.h"
#include "rsp/limits.h"
#include "rsp/packet/hex.h"
#include "rsp/seconds.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace mqbridge::rsp {
namespace {

// If a stub never stops talking, the limits of the next exchange end it.
constexpr int max_leftover_chunks = 16;

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

constexpr const char* see_the_link =
    "check the link, a serial one above all; --trace FILE shows every packet";

} // namespace

void Dialogue::greet() {
  link_.queue_ack();
  greeting_ = true;
}

Result<bool> Dialogue::begin() {
  if (holds_.running())
    return link_.failure("target.running", "the target runs: nothing may be asked now", "");
  const bool stray = !pairing_.owes() && skip_leftovers();
  pairing_.begin();
  if (auto ours = look_for_guardian(); !ours)
    return forward(std::move(ours));
  const ReplyWait wait("the next packet", limits_.silence());
  if (const auto until = patience(wait); !until)
    return Failure(until.error());
  if (link_.speaks_another_protocol())
    return garbage(wait, link_.heard().garbage);
  return stray;
}

/// Drops what came though nothing was asked (a duplicate, a late notification): it must not answer
/// the next request. True: there was a packet.
bool Dialogue::skip_leftovers() {
  for (int chunk = 0; chunk < max_leftover_chunks; ++chunk)
    if (link_.receive(Clock::now()).kind != Received::Kind::data)
      break;
  bool packets = false;
  while (const auto event = link_.next()) {
    if (event->kind != Decoder::Kind::packet)
      continue;
    packets = true;
    if (!link_.no_ack())
      link_.queue_ack();
  }
  return packets;
}

Result<void> Dialogue::ask(std::string_view payload) {
  if (auto queued = link_.queue_request(payload); !queued)
    return queued;
  if (pairing_.asked())
    link_.count_round_trip();
  return {};
}

Result<std::string_view> Dialogue::exchange(std::string_view payload) {
  if (auto asked = ask(payload); !asked)
    return forward(std::move(asked));
  link_.flush();
  ReplyWait wait(payload, limits_.silence());
  wait.defer_ack = true;
  return reply(wait);
}

Result<std::string_view> Dialogue::reply(ReplyWait& wait) {
  for (;;) {
    while (const auto event = link_.next()) {
      if (auto result = take(*event, wait))
        return std::move(*result);
    }
    if (wait.watcher != nullptr && holds_.running() && wait.watcher->take_interrupt()) {
      if (auto queued = link_.queue_interrupt(); !queued)
        return forward(std::move(queued));
      link_.flush();
    }
    if (auto more = receive(wait); !more)
      return forward(std::move(more));
  }
}

Dialogue::Taken Dialogue::take(const Decoder::Event& event, ReplyWait& wait) {
  switch (event.kind) {
  case Decoder::Kind::packet:
    return take_packet(event.bytes, wait);
  case Decoder::Kind::notification:
    return std::nullopt;
  case Decoder::Kind::ack:
    wait.acked = true;
    return std::nullopt;
  case Decoder::Kind::nack:
    return take_nack(wait);
  case Decoder::Kind::corrupt:
    return take_corrupt(wait);
  case Decoder::Kind::too_long:
    return take_too_long(wait);
  case Decoder::Kind::garbage:
    return take_garbage(event, wait);
  }
  return std::nullopt;
}

Dialogue::Taken Dialogue::take_packet(std::string_view payload, const ReplyWait& wait) {
  acknowledge(wait);
  if (!may_be_anything(wait.request) && is_console_output(payload)) {
    if (wait.watcher != nullptr)
      wait.watcher->console_output(payload);
    return std::nullopt;
  }
  // The program asks the debugger's host for a file (remote file I/O, semihosting), and waits.
  const bool is_answered = wait.watcher != nullptr && wait.watcher->answers_file_requests();
  if (holds_.running() && payload.starts_with('F') && !is_answered) {
    link_.queue_answer("F-1,1"); // no permission
    link_.flush();
    return std::nullopt;
  }
  // A running machine stops when a client connects, and says so without being asked (QEMU system).
  if (std::exchange(greeting_, false) && is_stop_reply(payload) &&
      !asks_for_stop_reply(wait.request))
    return std::nullopt;
  if (!pairing_.take())
    return std::nullopt;
  if (!link_.no_ack())
    pairing_.acknowledged(wait.acked, link_.has_more());
  return payload;
}

void Dialogue::acknowledge(const ReplyWait& wait) {
  if (link_.no_ack())
    return;
  link_.queue_ack();
  if (!wait.defer_ack)
    link_.flush();
}

Dialogue::Taken Dialogue::take_too_long(const ReplyWait& wait) {
  acknowledge(wait);
  if (!pairing_.take())
    return std::nullopt;
  return link_.failure(codes::stub_too_long,
                       fmt::format("the answer to '{}' is longer than {} bytes",
                                   shorten(wait.request), Decoder::default_limit),
                       "no stub should send that: look with --trace FILE at what is there");
}

Dialogue::Taken Dialogue::take_corrupt(ReplyWait& wait) {
  if (!link_.no_ack() && ++wait.damaged <= limits::damaged_replies) {
    link_.queue_nack();
    link_.flush();
    return std::nullopt;
  }
  if (!pairing_.take())
    return std::nullopt;
  return link_.failure(
      codes::stub_garbage,
      fmt::format("the answer to '{}' is damaged (wrong checksum)", shorten(wait.request)),
      see_the_link);
}

Dialogue::Taken Dialogue::take_nack(ReplyWait& wait) {
  if (!link_.keeps_request())
    return std::nullopt;
  if (++wait.refused > limits::damaged_replies)
    return link_.failure(
        codes::stub_garbage,
        fmt::format("the stub refuses '{}' again and again as damaged", shorten(wait.request)),
        see_the_link);
  pairing_.lost_step(); // a damaged `+` looks the same: then two answers come
  link_.queue_request_again();
  link_.flush();
  return std::nullopt;
}

Dialogue::Taken Dialogue::take_garbage(const Decoder::Event& event, ReplyWait& wait) {
  wait.garbage += event.length;
  if (!link_.speaks_another_protocol() && wait.garbage <= limits::garbage)
    return std::nullopt;
  return garbage(wait, event.bytes);
}

Failure Dialogue::garbage(const ReplyWait& wait, std::string_view bytes) const {
  return link_.failure(
      codes::stub_garbage,
      fmt::format("instead of an answer to '{}' came '{}'", shorten(wait.request), shorten(bytes)),
      "no GDB stub speaks so: check host and port");
}

Result<bool> Dialogue::receive(ReplyWait& wait, Clock::time_point at_most) {
  const auto until = patience(wait);
  if (!until) {
    if (until.error().code == codes::stub_timeout)
      pairing_.lost_step(); // is it late, or lost?
    return Failure(until.error());
  }
  const auto received = link_.receive(std::min(*until, at_most));
  // This comes after the reception: bytes that came while the connection was ours are ours.
  if (auto ours = look_for_guardian(); !ours)
    return forward(std::move(ours));
  switch (received.kind) {
  case Received::Kind::data:
    wait.last_byte = link_.heard().last;
    return true;
  case Received::Kind::closed:
    return closed(wait, received.bytes);
  case Received::Kind::woken:
    if (wait.when_woken != nullptr)
      if (auto done = (*wait.when_woken)(); !done)
        return forward(std::move(done));
    break;
  case Received::Kind::timed_out: // patience() says next what ran out
    break;
  }
  return false;
}

Failure Dialogue::closed(const ReplyWait& wait, std::string_view how) {
  const auto words = link_.transport().last_words();
  return link_.failure(
      "stub.closed",
      fmt::format("the connection ended while '{}' waited for its answer: {}",
                  shorten(wait.request), words.empty() ? how : words),
      "look at what the stub printed on its node; --trace FILE shows every packet");
}

/// Fails if the guardian has taken the connection: it does not give one back.
Result<void> Dialogue::look_for_guardian() {
  if (!holds_.taken_over())
    return {};
  link_.give_up();
  if (holds_.was_late())
    return fail(codes::stop_limit,
                fmt::format("{}: --max-stop was over while mqbridge was kept from letting the "
                            "process run (by a slow file as a rule), so its guardian has done it",
                            link_.name()),
                "raise --max-stop; a slow file system may be that of the executable, --sysroot, "
                "--debug-dir, --trace or ~/.cache/mqbridge");
  return fail("guardian.released",
              fmt::format("{}: mqbridge was suspended while this process was held, so its guardian "
                          "has let the process run",
                          link_.name()),
              "run mqbridge again; Ctrl-Z in its terminal waits until nothing is held, a SIGSTOP "
              "does not");
}

/// The next moment at which a limit passes, or the error of the one that has passed.
Result<Dialogue::Clock::time_point> Dialogue::patience(const ReplyWait& wait) const {
  const auto now = Clock::now();
  const auto until = limits_.next(wait, now);
  if (until)
    return *until;
  switch (until.error()) {
  case ExchangeLimits::Passed::cancelled: // the user did it: the last packets explain nothing
    return fail(codes::interrupted, fmt::format("{}: interrupted", link_.name()));
  case ExchangeLimits::Passed::deadline:
    return link_.failure(codes::stop_limit,
                         fmt::format("the target was to be released now; '{}' had waited {:.1f} s",
                                     shorten(wait.request), in_seconds(now - wait.begun)),
                         "raise --max-stop to get more");
  case ExchangeLimits::Passed::silence:
    break;
  }
  return link_.failure(codes::stub_timeout,
                       fmt::format("no answer to '{}' within {:.1f} s", shorten(wait.request),
                                   in_seconds(now - wait.begun)),
                       "does the stub still run? On a slow link raise --timeout; --trace FILE "
                       "shows every packet");
}

} // namespace mqbridge::rsp
