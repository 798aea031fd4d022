#include "rsp/exchange/padded_sender.h"

#include "rsp/packet/codec.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace mqbridge::rsp {
namespace {

constexpr std::size_t stub_buffer = 256;
// One send stays below the smallest segment of TCP over IPv6 (1280 bytes, less the headers). So it
// arrives as a whole, unless a relay cuts it, which would happen in any case.
constexpr std::size_t most_blocks = 4;

} // namespace

void PaddedSender::start(StepFinder::Marker marker) {
  marker_ = std::move(marker);
  blocks_ = 1;
  out_of_step_ = false;
}

Result<void> PaddedSender::send(std::span<const std::string> payloads,
                                std::vector<std::string>& replies) {
  if (!works())
    return {};
  // Replies to requests that were given up come first, and are acknowledged already. Only sending
  // one request at a time tells them from ours.
  out_of_step_ |= pairing_.owes_given_up();
  while (!out_of_step_ && replies.size() < payloads.size()) {
    auto fit = send_some(payloads.subspan(replies.size()), replies);
    if (!fit)
      return forward(std::move(fit));
    if (!*fit)
      return {};
  }
  if (!out_of_step_)
    return {};
  if (auto found = steps_.find(*marker_, std::chrono::milliseconds::max()); !found)
    return found;
  marker_.reset(); // for good: a relay that has cut the stream will do so again
  return {};
}

/// Sends once and takes the replies. False: the first of `payloads` is longer than the stub's
/// buffer.
Result<bool> PaddedSender::send_some(std::span<const std::string> payloads,
                                     std::vector<std::string>& replies) {
  auto count = send_blocks(payloads);
  if (!count)
    return forward(std::move(count));
  if (*count == 0)
    return false;
  std::vector<std::string> paired;
  while (paired.size() < *count && !out_of_step_) {
    auto reply = receive_paired(payloads[paired.size()]);
    if (!reply)
      return forward(std::move(reply));
    if (*reply)
      paired.push_back(std::move(**reply));
    else
      out_of_step_ = true;
  }
  // If a send went wrong, none of its replies counts: all its requests are sent again.
  if (!out_of_step_)
    std::move(paired.begin(), paired.end(), std::back_inserter(replies));
  blocks_ = std::min(2 * blocks_, most_blocks);
  return true;
}

/// Sends as many of the first `payloads` as fit; returns their number.
Result<std::size_t> PaddedSender::send_blocks(std::span<const std::string> payloads) {
  std::size_t sent = 0;
  for (std::size_t block = 0; block < blocks_; ++block) {
    const std::size_t before = sent;
    std::size_t filled = 0;
    while (sent < payloads.size()) {
      const std::size_t size = encode(payloads[sent]).size();
      if (filled + size > stub_buffer)
        break;
      if (auto asked = dialogue_.ask(payloads[sent]); !asked) {
        link_.flush();
        return forward(std::move(asked));
      }
      filled += size;
      ++sent;
    }
    if (sent == before)
      break;
    for (std::size_t acks = stub_buffer - filled + (sent - before); acks > 0; --acks)
      link_.queue_ack();
  }
  link_.flush();
  return sent;
}

/// Receives `+` and the reply behind it; nullopt if something else comes.
Result<std::optional<std::string>> PaddedSender::receive_paired(std::string_view request) {
  ReplyWait wait(request, limits_.silence());
  bool acknowledged = false;
  while (true) {
    while (auto event = link_.next()) {
      const bool is_ack = event->kind == Decoder::Kind::ack;
      if (is_ack && !acknowledged) {
        acknowledged = true;
        continue;
      }
      if (event->kind != Decoder::Kind::packet || !acknowledged)
        return std::optional<std::string>();
      pairing_.take();
      return std::optional(std::string(event->bytes));
    }
    if (auto more = dialogue_.receive(wait); !more)
      return forward(std::move(more));
  }
}

} // namespace mqbridge::rsp
