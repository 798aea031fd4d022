#include "rsp/commands/vfile_reply.h"

#include "rsp/codes.h"
#include "rsp/limits.h"
#include "rsp/packet/packet_history.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

namespace mqbridge::rsp {
namespace {

/// Bytes of a reply beside the data: "$F", the count, ";", "#" and the checksum.
constexpr std::size_t around_file_data = 32;

/// The name of an error number of the protocol (GDB manual, "Errno Values"); the host's numbers may
/// be others.
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

} // namespace

Failure garbled_file_reply(std::string_view path, std::string_view reply) {
  return fail(codes::stub_garbage,
              fmt::format("reading {}: '{}' is no reply to vFile", path, shorten(reply)),
              "look at what the stub says with --trace FILE");
}

Failure refused_file(std::string_view code, std::string_view what, std::string_view path,
                     const FileReply& reply) {
  return fail(code,
              fmt::format("cannot {} {} on the target: {}", what, path, errno_name(reply.error)),
              "the stub's user must be able to read the file");
}

std::size_t file_piece_size(const Client& client) {
  return std::min(std::max(client.features().packet_size, 2 * around_file_data) - around_file_data,
                  limits::piece);
}

Result<std::string_view> parse_file_piece(std::string_view path, std::string_view reply,
                                          std::size_t wanted) {
  const auto parsed = parse_file_reply(reply);
  if (!parsed)
    return garbled_file_reply(path, reply);
  if (parsed->result < 0)
    return refused_file("vfile.read", "read", path, *parsed);
  if (static_cast<std::uint64_t>(parsed->result) != parsed->attachment.size() ||
      parsed->attachment.size() > wanted)
    return garbled_file_reply(path, reply);
  return parsed->attachment;
}

} // namespace mqbridge::rsp
