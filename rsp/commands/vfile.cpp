#include "rsp/commands/vfile.h"

#include "rsp/commands/hex.h"
#include "rsp/packet_history.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace mqbridge::rsp {
namespace {

/// What a reply needs besides the data: "$F", the count, ";", "#" and the checksum.
constexpr std::size_t framing = 32;
constexpr std::size_t max_piece = std::size_t{64} << 10;
/// Reads on their way at once, when the file turns out to be a long one.
constexpr std::size_t max_pipelined = 16;

/// `F RESULT[,ERRNO[,C]][;ATTACHMENT]`
struct FileReply {
  std::int64_t result = 0;
  std::uint64_t error = 0;
  std::string_view attachment;
};

/// The protocol's own numbers (GDB manual, "Errno Values"), which need not be the host's.
std::string errno_name(std::uint64_t number) {
  using Name = std::pair<std::uint64_t, std::string_view>;
  static constexpr std::array names = std::to_array<Name>(
      {{1, "EPERM"},         {2, "ENOENT"},     {4, "EINTR"},   {5, "EIO"},     {9, "EBADF"},
       {13, "EACCES"},       {14, "EFAULT"},    {16, "EBUSY"},  {17, "EEXIST"}, {19, "ENODEV"},
       {20, "ENOTDIR"},      {21, "EISDIR"},    {22, "EINVAL"}, {23, "ENFILE"}, {24, "EMFILE"},
       {27, "EFBIG"},        {28, "ENOSPC"},    {29, "ESPIPE"}, {30, "EROFS"},  {88, "ENOSYS"},
       {91, "ENAMETOOLONG"}, {9999, "EUNKNOWN"}});
  for (const auto& [known, name] : names)
    if (known == number)
      return std::string(name);
  return fmt::format("errno {}", number);
}

/// Removes the front of `text` up to `separator` and returns it; all of it if there is none.
std::string_view take_until(std::string_view& text, char separator) {
  const std::string_view head = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(text.size(), head.size() + 1));
  return head;
}

std::optional<FileReply> parse_reply(std::string_view reply) {
  if (!take_until(reply, 'F').empty())
    return std::nullopt;
  std::string_view numbers = take_until(reply, ';');
  std::string_view result = take_until(numbers, ',');
  const std::string_view error = take_until(numbers, ',');
  const bool negative = result.starts_with('-');
  result.remove_prefix(negative ? 1 : 0);
  const auto magnitude = parse_hex(result);
  const auto error_number = error.empty() ? std::uint64_t{0} : parse_hex(error);
  if (!magnitude || *magnitude > std::numeric_limits<std::int64_t>::max() || !error_number)
    return std::nullopt;
  const auto value = static_cast<std::int64_t>(*magnitude);
  return FileReply{negative ? -value : value, *error_number, reply};
}

Failure garbage(std::string_view path, std::string_view reply) {
  return fail("stub.garbage",
              fmt::format("reading {}: '{}' is no reply to vFile", path, shorten(reply)),
              "look at what the stub says with --trace FILE");
}

Failure refused(std::string_view code, std::string_view what, std::string_view path,
                const FileReply& reply) {
  return fail(code,
              fmt::format("cannot {} {} on the target: {}", what, path, errno_name(reply.error)),
              "the stub's user must be able to read the file");
}

/// Nothing of the file is read before it is known to be there; the descriptor is the stub's.
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
  const auto reply = parse_reply(opened);
  if (!reply)
    return garbage(path, opened);
  if (reply->result < 0)
    return refused("vfile.open", "open", path, *reply);
  return static_cast<std::uint64_t>(reply->result);
}

/// Reads an open file from its start to its end, with more requests on their way the longer it is.
class FileReader {
public:
  FileReader(Client& client, std::string_view path, std::uint64_t descriptor, std::size_t limit)
      : client_(client), path_(path), descriptor_(descriptor), limit_(limit),
        piece_(
            std::min(std::max(client.features().packet_size, 2 * framing) - framing, max_piece)) {}

  Result<std::string> read() {
    while (!at_end_) {
      if (auto done = read_batch(); !done)
        return forward(std::move(done));
      if (text_.size() > limit_) {
        return fail("vfile.too_large",
                    fmt::format("{} on the target has more than {} bytes", path_, limit_));
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
      if (!*whole) {
        // What comes behind a short read does not join on. Files of /proc are like that.
        pipelined_ = 1;
        return {};
      }
    }
    pipelined_ = std::min(2 * pipelined_, max_pipelined);
    return {};
  }

  /// Whether the piece was as long as asked, so that the next one joins on.
  Result<bool> take(const std::string& bytes) {
    const auto reply = parse_reply(bytes);
    if (!reply)
      return garbage(path_, bytes);
    if (reply->result < 0)
      return refused("vfile.read", "read", path_, *reply);
    if (static_cast<std::uint64_t>(reply->result) != reply->attachment.size() ||
        reply->attachment.size() > piece_)
      return garbage(path_, bytes);
    text_ += reply->attachment;
    at_end_ = reply->attachment.empty();
    return reply->attachment.size() == piece_;
  }

  Client& client_;
  std::string_view path_;
  std::uint64_t descriptor_;
  std::size_t limit_;
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
  // A stub that cannot close has said all there was to read: its answer changes nothing.
  if (auto closed = client.request(fmt::format("vFile:close:{:x}", *descriptor)); text && !closed)
    return forward(std::move(closed));
  return text;
}

} // namespace mqbridge::rsp
