#include "rsp/commands/memory.h"

#include "rsp/codes.h"
#include "rsp/commands/joined_range.h"
#include "rsp/commands/memory_burst.h"
#include "rsp/exchange/connection.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace mqbridge::rsp {
namespace {

/// What a longer piece gains is less than what it loses when its end turns out to be unmapped.
constexpr std::size_t max_piece = std::size_t{64} << 10;
/// Bursts in a row that bring nothing but replies which do not pair.
constexpr int most_attempts = 4;

/// An `x` reply never has more data than fits as hexadecimal: escapes at most double it.
std::size_t longest_piece(const Features& features) {
  return std::clamp<std::size_t>(features.max_hex_read(), 1, max_piece);
}

/// The error of a reply that itself was damaged, or cannot be one.
bool damaged(const Error& error) {
  return error.code == codes::stub_garbage || error.code == codes::stub_too_long;
}

void settle(std::vector<JoinedRange>& ranges) {
  std::vector<JoinedRange> unfinished;
  for (JoinedRange& range : ranges)
    range.settle(unfinished);
  ranges = std::move(unfinished);
}

std::size_t unread(std::span<const JoinedRange> ranges) {
  return std::accumulate(
      ranges.begin(), ranges.end(), std::size_t{0},
      [](std::size_t sum, const JoinedRange& range) { return sum + range.scan().rest(); });
}

} // namespace

Result<void> read_memory(Client& client, std::span<ReadRequest> requests,
                         const ReadOptions& options) {
  Connection& connection = client.connection();
  auto ranges = join(requests, longest_piece(client.features()), options.grain);
  int attempts = 0;
  while (!ranges.empty()) {
    client.memory_file().begin_burst(client, unread(ranges));
    MemoryBurst burst(ranges, client.features(), client.memory_file(),
                      {.marked = connection.no_ack(),
                       .careful = attempts > 0,
                       .in_doubt = [&] { return connection.in_doubt(); }},
                      {options.watcher, requests.data()});
    auto read = client.stream(burst);
    settle(ranges);
    attempts = burst.progressed() ? 0 : attempts;
    if (read && burst.held_back())
      return {};
    if (read)
      continue;
    if (!damaged(read.error()) || burst.certain())
      return read;
    // Even when it is given up: whoever asks next, be it for the detach, gets its own answers.
    auto in_step = connection.resynchronise();
    if (!in_step)
      return in_step;
    if (++attempts == most_attempts)
      return read;
  }
  return {};
}

} // namespace mqbridge::rsp
