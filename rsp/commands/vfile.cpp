#include "rsp/commands/vfile.h"

#include "rsp/codes.h"
#include "rsp/commands/short_pieces.h"
#include "rsp/commands/vfile_reply.h"
#include "rsp/limits.h"
#include "rsp/packet/hex.h"
#include "rsp/packet/printable.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <vector>

namespace mqbridge::rsp {
namespace {

/// Opens a file, and returns the stub's descriptor. Nothing is read before the file is known to be
/// there.
Result<std::uint64_t> open_file(Client& client, std::string_view path) {
  const std::array<std::string, 2> requests{"vFile:setfs:0",
                                            fmt::format("vFile:open:{},0,0", encode_hex(path))};
  auto replies = client.burst(requests);
  if (!replies)
    return forward(std::move(replies));
  const std::string& opened = replies->back();
  if (opened.empty()) {
    return fail("vfile.unsupported",
                fmt::format("the stub at {} cannot read files ({})", client.endpoint().text, path),
                "use gdbserver 7.6 or later");
  }
  const auto reply = parse_file_reply(opened);
  if (!reply)
    return garbled_file_reply(path, opened);
  if (reply->result < 0)
    return refused_file("vfile.open", "open", path, *reply);
  return static_cast<std::uint64_t>(reply->result);
}

/// Reads an open file from its start to its end. The more of it has come, the more requests are on
/// their way at the same time.
class FileReader {
public:
  FileReader(Client& client, std::string_view path, std::uint64_t descriptor, std::size_t limit)
      : client_(client), path_(path), descriptor_(descriptor), limit_(limit),
        piece_(file_piece_size(client)) {}

  Result<std::string> read() {
    while (!at_end_) {
      if (auto done = read_batch(); !done)
        return forward(std::move(done));
      if (text_.size() > limit_) {
        return fail("vfile.too_large",
                    fmt::format("{} on the target has more than {} bytes", path_, limit_),
                    fmt::format("on the node: ls -lL {}", pasteable(path_)));
      }
    }
    return std::move(text_);
  }

private:
  Result<void> read_batch() {
    std::vector<std::string> requests;
    for (std::size_t i = 0; i < pipelined_; ++i) {
      requests.push_back(fmt::format("vFile:pread:{:x},{:x},{:x}", descriptor_, piece_,
                                     text_.size() + i * piece_));
    }
    auto replies = client_.burst(requests);
    if (!replies)
      return forward(std::move(replies));
    for (const std::string& reply : *replies) {
      auto whole = take(reply);
      if (!whole)
        return forward(std::move(whole));
      if (!*whole && !at_end_ && !short_pieces_.take(text_.size())) {
        return fail(codes::stub_trickles,
                    fmt::format("{} comes from the target byte by byte, and does not end", path_),
                    "look at what the stub says with --trace FILE");
      }
      if (!*whole) {
        // Behind a short read there is a gap before the next piece. Files of /proc are like that.
        pipelined_ = 1;
        return {};
      }
    }
    pipelined_ = std::min(2 * pipelined_, limits::pieces_under_way);
    return {};
  }

  /// Takes a piece. True: it was as long as asked for, and the next piece follows it without a gap.
  Result<bool> take(const std::string& bytes) {
    const auto piece = parse_file_piece(path_, bytes, piece_);
    if (!piece)
      return Failure(piece.error());
    text_ += *piece;
    at_end_ = piece->empty();
    return piece->size() == piece_;
  }

  Client& client_;
  std::string_view path_;
  std::uint64_t descriptor_;
  std::size_t limit_;
  ShortPieces short_pieces_;
  std::size_t piece_;
  std::size_t pipelined_ = 1;
  bool at_end_ = false;
  std::string text_;
};

} // namespace

Result<std::string> read_file(Client& client, std::string_view path, std::size_t limit) {
  auto descriptor = open_file(client, path);
  if (!descriptor)
    return forward(std::move(descriptor));
  auto text = FileReader(client, path, *descriptor, limit).read();
  // If the stub cannot close the file, the text is there all the same.
  if (auto closed = client.request(fmt::format("vFile:close:{:x}", *descriptor)); text && !closed)
    return forward(std::move(closed));
  return text;
}

Result<std::string> read_file_start(Client& client, std::string_view path, std::size_t count) {
  const auto descriptor = open_file(client, path);
  if (!descriptor)
    return Failure(descriptor.error());
  const auto size = std::min(count, file_piece_size(client));
  const std::array<std::string, 2> requests{
      fmt::format("vFile:pread:{:x},{:x},0", *descriptor, size),
      fmt::format("vFile:close:{:x}", *descriptor)};
  const auto replies = client.burst(requests);
  if (!replies)
    return Failure(replies.error());
  const auto start = parse_file_piece(path, replies->front(), size);
  return start ? Result<std::string>(std::string(*start)) : Failure(start.error());
}

} // namespace mqbridge::rsp
