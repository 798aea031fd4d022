#include "rsp/exchange/connection.h"
#include "rsp/exchange/connection_wait.h"

#include <algorithm>

// Bursts to a stub that takes its acknowledgements past the buffer of its requests: QEMU user
// (gdbstub.c: gdb_handlesig reads up to 256 bytes and answers what is in them; put_packet reads
// single bytes until a `+` comes, and sends its reply again for every other one).

namespace mqbridge::rsp {
namespace {

constexpr std::size_t stub_buffer = 256;
// One send stays below the smallest segment of TCP over IPv6 (1280 bytes, less the headers): it
// arrives as a whole, or cut by a relay that would cut it anyhow.
constexpr std::size_t most_blocks = 4;

} // namespace

void Connection::pad_bursts(std::string marker, std::string marker_reply) {
  const auto is_answer = [answer = std::move(marker_reply)](std::string_view reply) {
    return reply == answer;
  };
  padding_ = Padding{{std::move(marker), is_answer}};
}

/// As far as padding works: what is left then goes one at a time.
Result<void> Connection::pad(std::span<const std::string> payloads,
                             std::vector<std::string>& replies) {
  if (!padding_)
    return {};
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
  if (!padding_->out_of_step)
    return {};
  // For good: what cuts the stream once does so again.
  if (auto found = find_back_into_step(padding_->marker, std::chrono::milliseconds::max()); !found)
    return found;
  padding_.reset();
  return {};
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
      return std::optional(std::string(event->bytes));
    }
    if (auto more = receive_bytes(wait); !more)
      return forward(std::move(more));
  }
}

} // namespace mqbridge::rsp
