#include "rsp/commands/memory.h"

#include "rsp/commands/hex.h"
#include "rsp/commands/memory_scan.h"
#include "rsp/packet_history.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mqbridge::rsp {
namespace {

/// What a longer piece gains is less than what it loses when its end turns out to be unmapped.
constexpr std::size_t max_piece = std::size_t{64} << 10;
/// Bytes asked for in one burst: its replies are kept until the last one is there.
constexpr std::size_t max_batch = std::size_t{8} << 20;

struct Piece {
  MemoryScan* scan;
  std::uint64_t address;
  std::size_t length;
  BinaryRead form;
};

/// An `x` reply never has more data than fits as hexadecimal: escapes at most double it.
std::size_t longest_piece(const Features& features) {
  return std::clamp<std::size_t>(features.max_hex_read(), 1, max_piece);
}

BinaryRead form_for(const Features& features, std::size_t length) {
  // LLDB's binary replies have no prefix: three bytes of memory may read "E01".
  const bool ambiguous = features.binary_read == BinaryRead::lldb && length <= 3;
  return ambiguous ? BinaryRead::none : features.binary_read;
}

std::string request_for(const Piece& piece) {
  return fmt::format("{}{:x},{:x}", piece.form == BinaryRead::none ? 'm' : 'x', piece.address,
                     piece.length);
}

Failure garbage(const Piece& piece, std::string_view reply, std::string_view why) {
  return fail("stub.garbage",
              fmt::format("{}: the stub answered '{}' ({} bytes): {}", request_for(piece),
                          shorten(reply), reply.size(), why),
              "look at what the stub says with --trace FILE");
}

/// How many bytes the reply brought into `room`; nullopt if the stub refused.
Result<std::optional<std::size_t>> take_reply(const Piece& piece, std::string_view reply,
                                              std::span<std::byte> room) {
  if (is_error_reply(reply))
    return std::optional<std::size_t>();
  if (piece.form == BinaryRead::none) {
    if (reply.empty()) {
      return fail("memory.unsupported", "the stub does not answer `m`: it cannot read memory",
                  "use gdbserver, or another stub that reads memory");
    }
    if (reply.size() > 2 * room.size())
      return garbage(piece, reply, "more than it was asked for");
    const std::size_t got = reply.size() / 2;
    if (!decode_hex(reply, room.first(got)))
      return garbage(piece, reply, "not hexadecimal");
    return std::optional(got);
  }
  if (piece.form == BinaryRead::gdb) {
    if (!reply.starts_with('b'))
      return garbage(piece, reply, "not a binary reply");
    reply.remove_prefix(1);
  }
  if (reply.size() > room.size())
    return garbage(piece, reply, "more than it was asked for");
  if (reply.empty())
    return std::optional<std::size_t>();
  std::memcpy(room.data(), reply.data(), reply.size());
  return std::optional(reply.size());
}

/// The next pieces of all scans, in their order, up to max_batch bytes.
std::vector<Piece> next_batch(std::vector<MemoryScan*>& scans, const Features& features) {
  std::vector<Piece> batch;
  std::size_t asked = 0;
  for (MemoryScan* scan : scans) {
    std::size_t ahead = 0;
    do {
      const std::size_t length = scan->next_piece(ahead);
      batch.push_back({scan, scan->address() + ahead, length, form_for(features, length)});
      ahead += length;
      asked += length;
    } while (!scan->narrowing() && ahead < scan->rest() && asked < max_batch);
    if (asked >= max_batch)
      break;
  }
  return batch;
}

Result<void> take_batch(const std::vector<Piece>& batch, const std::vector<std::string>& replies) {
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const Piece& piece = batch[i];
    MemoryScan& scan = *piece.scan;
    // Behind a piece that came short, what else was read ahead does not join on.
    if (scan.address() != piece.address)
      continue;
    auto got = take_reply(piece, replies[i], scan.room(piece.length));
    if (!got)
      return forward(std::move(got));
    if (*got)
      scan.succeeded(piece.length, **got);
    else
      scan.failed(piece.length);
  }
  return {};
}

} // namespace

Result<void> read_memory(Client& client, std::span<ReadRequest> requests) {
  const Features& features = client.features();
  std::vector<MemoryScan> scans;
  scans.reserve(requests.size());
  for (ReadRequest& request : requests)
    scans.emplace_back(request, longest_piece(features));
  std::vector<MemoryScan*> unfinished;
  unfinished.reserve(scans.size());
  for (MemoryScan& scan : scans)
    unfinished.push_back(&scan);
  while (true) {
    std::erase_if(unfinished, [](const MemoryScan* scan) { return scan->done(); });
    if (unfinished.empty())
      return {};
    const std::vector<Piece> batch = next_batch(unfinished, features);
    std::vector<std::string> payloads;
    payloads.reserve(batch.size());
    std::transform(batch.begin(), batch.end(), std::back_inserter(payloads), request_for);
    auto replies = client.burst(payloads);
    if (!replies)
      return forward(std::move(replies));
    if (auto taken = take_batch(batch, *replies); !taken)
      return forward(std::move(taken));
  }
}

} // namespace mqbridge::rsp
