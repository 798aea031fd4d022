#include "rsp/commands/read_memory.h"

#include "rsp/codes.h"
#include "rsp/commands/joined_range.h"
#include "rsp/commands/memory_burst.h"
#include "rsp/exchange/connection.h"
#include "rsp/limits.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace mqbridge::rsp {
namespace {

/// Bursts in a row after which a read fails if none brought a reply that pairs with its request.
constexpr int most_attempts = 4;

/// An `x` reply never has more data than fits as hexadecimal: escapes at most double it.
std::size_t longest_piece(const Features& features) {
  return std::clamp<std::size_t>(features.max_hex_read(), 1, limits::piece);
}

/// Whether the error says that a reply was damaged, or cannot be one.
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
    // This is done even before giving up: the next request, the detach too, then gets its own
    // reply.
    auto in_step = connection.resynchronise();
    if (!in_step)
      return in_step;
    if (++attempts == most_attempts)
      return read;
  }
  return {};
}

} // namespace mqbridge::rsp
