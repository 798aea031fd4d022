#include "rsp/connection.h"
#include "rsp/connection_wait.h"

#include <algorithm>
#include <fmt/format.h>

// Bursts to a stub that takes its acknowledgements past the buffer of its requests: QEMU user
// (gdbstub.c: gdb_handlesig reads up to 256 bytes and answers what is in them; put_packet reads
// single bytes until a `+` comes, and sends its reply again for every other one).

namespace mqbridge::rsp {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t stub_buffer = 256;
// One send stays below the smallest segment of TCP over IPv6 (1280 bytes, less the headers): it
// arrives as a whole, or cut by a relay that would cut it anyhow.
constexpr std::size_t most_blocks = 4;
// Silence after which a stub out of step counts as waiting: longer than a round trip nearly
// everywhere, and doubled each time that it was not long enough.
constexpr milliseconds first_pause{100};
constexpr int most_attempts = 6;

} // namespace

void Connection::pad_bursts(std::string marker, std::string marker_reply) {
  padding_ = Padding{std::move(marker), std::move(marker_reply)};
}

/// As far as padding works: what is left then goes one at a time.
Result<void> Connection::send_padded(std::span<const std::string> payloads,
                                     std::vector<std::string>& replies) {
  // Replies to what was given up come first, and are acknowledged already: they are told from ours
  // only by going back to one at a time.
  if (stale_ != 0)
    padding_->out_of_step = true;
  while (!padding_->out_of_step && replies.size() < payloads.size()) {
    const auto rest = payloads.subspan(replies.size());
    auto count = send_padded_blocks(rest);
    if (!count)
      return forward(std::move(count));
    if (*count == 0) // longer than the stub's buffer
      return {};
    std::vector<std::string> paired;
    while (paired.size() < *count && !padding_->out_of_step) {
      auto reply = receive_paired(rest[paired.size()]);
      if (!reply)
        return forward(std::move(reply));
      if (*reply)
        paired.push_back(std::move(**reply));
      else
        padding_->out_of_step = true;
    }
    // Of a send that went wrong nothing counts: what was answered is asked again.
    if (!padding_->out_of_step)
      std::move(paired.begin(), paired.end(), std::back_inserter(replies));
    padding_->blocks = std::min(2 * padding_->blocks, most_blocks);
  }
  return padding_->out_of_step ? find_back_into_step() : Result<void>();
}

/// Sends the first of `payloads`, as many as fit, and tells how many.
Result<std::size_t> Connection::send_padded_blocks(std::span<const std::string> payloads) {
  std::size_t sent = 0;
  for (std::size_t block = 0; block < padding_->blocks; ++block) {
    const std::size_t before = sent;
    std::size_t filled = 0;
    while (sent < payloads.size()) {
      const std::size_t size = encode(payloads[sent]).size();
      if (filled + size > stub_buffer)
        break;
      if (auto ok = send_packet(payloads[sent]); !ok) {
        flush();
        return forward(std::move(ok));
      }
      filled += size;
      ++sent;
    }
    if (sent == before)
      break;
    for (std::size_t acks = stub_buffer - filled + (sent - before); acks > 0; --acks)
      queue(gate_.ack());
  }
  flush();
  return sent;
}

/// The reply behind its `+`; nullopt if something else comes.
Result<std::optional<std::string>> Connection::receive_paired(std::string_view request) {
  Wait wait(request, options_.silence_timeout);
  bool acknowledged = false;
  while (true) {
    while (auto event = decoder_.next()) {
      const bool is_ack = event->kind == Decoder::Kind::ack;
      if (is_ack && !acknowledged) {
        acknowledged = true;
        continue;
      }
      if (event->kind != Decoder::Kind::packet || !acknowledged)
        return std::optional<std::string>();
      note_packet(event->bytes);
      --outstanding_;
      return std::optional(std::move(event->bytes));
    }
    if (auto more = receive_bytes(wait); !more)
      return forward(std::move(more));
  }
}

/// Leaves padding for good. Afterwards the stub owes nothing.
Result<void> Connection::find_back_into_step() {
  milliseconds pause = first_pause;
  for (int attempt = 0; attempt < most_attempts; ++attempt, pause *= 2) {
    if (auto quiet = discard_until_quiet(pause); !quiet)
      return quiet;
    auto found = marker_is_next(pause);
    if (!found)
      return forward(std::move(found));
    if (*found) {
      outstanding_ = stale_ = 0;
      padding_.reset();
      return {};
    }
  }
  return failure("stub.garbage",
                 fmt::format("the stub has lost count of its replies, and '{}' does not bring it "
                             "back",
                             padding_->marker),
                 "what passes the bytes on between here and the stub damages them: connect without "
                 "it; --trace FILE shows every packet");
}

/// A stub that waits for a `+` gets it, until it has nothing more to say.
Result<void> Connection::discard_until_quiet(milliseconds pause) {
  queue(gate_.ack());
  flush();
  Wait wait("the rest of a burst", options_.silence_timeout);
  auto quiet_at = Clock::now() + pause;
  while (Clock::now() < quiet_at) {
    const auto more = receive_bytes(wait, quiet_at);
    if (!more)
      return Failure(more.error());
    if (*more) {
      take_marker();
      quiet_at = Clock::now() + pause;
    }
  }
  return {};
}

/// Asks for the marker once: whether its answer comes, behind whatever else was on its way.
Result<bool> Connection::marker_is_next(milliseconds pause) {
  outstanding_ = stale_ = 0;
  if (auto sent = send_packet(padding_->marker); !sent)
    return forward(std::move(sent));
  flush();
  Wait wait(padding_->marker, options_.silence_timeout);
  const auto give_up = Clock::now() + 2 * pause;
  while (Clock::now() < give_up) {
    const auto more = receive_bytes(wait, give_up);
    if (!more)
      return Failure(more.error());
    if (take_marker())
      return true;
  }
  return false;
}

/// Acknowledges and forgets what has come: whether the marker's answer was the last of it.
bool Connection::take_marker() {
  bool is_last = false;
  while (const auto event = decoder_.next()) {
    if (event->kind != Decoder::Kind::packet)
      continue;
    note_packet(event->bytes);
    queue(gate_.ack());
    is_last = event->bytes == padding_->marker_reply;
  }
  flush();
  return is_last;
}

} // namespace mqbridge::rsp
