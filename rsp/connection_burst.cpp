#include "rsp/connection.h"
#include "rsp/connection_wait.h"

#include <algorithm>
#include <charconv>

namespace mqbridge::rsp {
namespace {

// Reply bytes, and requests, that may be outstanding in a burst: enough for the longest links that
// occur (10 ms at 100 MB/s), and little enough for any stub's memory.
constexpr std::size_t window_bytes = std::size_t{1} << 20;
constexpr std::size_t window_requests = 4096;
// Bytes of requests that the stub has not answered: always less than a socket takes in one send
// (min_send_buffer). Should we be killed, no half packet lies in the stream: gdbserver 13.1 ends
// the process it started over an `m` that is cut before its comma.
std::size_t request_window(const LinkLimits& link) {
  return link.send_buffer / 4;
}
// On a slow link a second's worth: detaching has to wait for what is owed.
std::size_t reply_window(const LinkLimits& link) {
  return link.bytes_per_second == 0 ? window_bytes : std::min(window_bytes, link.bytes_per_second);
}
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

Result<std::vector<std::string>> Connection::burst(std::span<const std::string> payloads) {
  if (auto ready = begin(); !ready)
    return forward(std::move(ready));
  if (no_ack_)
    return pipeline(payloads);
  std::vector<std::string> replies;
  if (padding_) {
    if (auto sent = send_padded(payloads, replies); !sent)
      return forward(std::move(sent));
  }
  if (auto sent = send_singly(payloads, replies); !sent)
    return forward(std::move(sent));
  return replies;
}

/// What of `payloads` is not answered by `replies` yet.
Result<void> Connection::send_singly(std::span<const std::string> payloads,
                                     std::vector<std::string>& replies) {
  for (const auto& payload : payloads.subspan(replies.size())) {
    if (auto sent = send_packet(payload); !sent)
      return sent;
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
  return {};
}

Result<std::vector<std::string>> Connection::pipeline(std::span<const std::string> payloads) {
  const std::size_t most_requested = request_window(transport_->limits());
  const std::size_t most_owed = reply_window(transport_->limits());
  std::vector<std::string> replies;
  replies.reserve(payloads.size());
  std::size_t sent = 0;
  std::size_t owed = 0;
  std::size_t unanswered = 0; // bytes of requests
  while (replies.size() < payloads.size()) {
    // Refilled when half empty, so that many requests share one send.
    if (owed <= most_owed / 2 && sent - replies.size() <= window_requests / 2) {
      while (sent < payloads.size() && owed < most_owed && unanswered < most_requested &&
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

} // namespace mqbridge::rsp
