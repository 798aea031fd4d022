#include "rsp/commands/remote_file.h"

#include "rsp/commands/vfile_reply.h"
#include "rsp/limits.h"
#include "rsp/packet/hex.h"
#include "rsp/packet/printable.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace mqbridge::rsp {
namespace {

/// struct stat of the protocol: big-endian, packed (GDB manual, "struct stat").
constexpr std::size_t inode_at = 4;
constexpr std::size_t mode_at = 8;
constexpr std::size_t size_at = 28;
constexpr std::size_t modified_at = 56;
constexpr std::size_t changed_at = 60;
constexpr std::size_t stat_size = 64;

constexpr std::uint64_t file_type_mask = 0170000;
constexpr std::uint64_t regular_file = 0100000;

std::uint64_t big_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char byte : bytes)
    value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

/// Bytes still to be read; `at` counts from the offset that read_file_at() got.
struct Gap {
  std::size_t at = 0;
  std::size_t size = 0;
};

Failure unsupported(const Client& client, std::string_view path) {
  return fail("vfile.unsupported",
              fmt::format("the stub at {} cannot open {}: it reads no files", //
                          client.endpoint().text, path),
              "give a directory tree with the node's own files: --sysroot DIR");
}

/// The descriptor, from the replies to setfs and open.
Result<std::uint64_t> opened(const Client& client, const RemotePath& path, std::string_view setfs,
                             std::string_view open) {
  if (open.empty())
    return unsupported(client, path.path);
  const auto in_name_space = parse_file_reply(setfs);
  const auto reply = parse_file_reply(open);
  if (!reply)
    return garbled_file_reply(path.path, open);
  if (reply->result < 0)
    return refused_file("vfile.open", "open", path.path, *reply);
  // If setfs failed, the path led into the stub's own file system.
  if (path.process != 0 && (!in_name_space || in_name_space->result != 0)) {
    return fail("vfile.unsupported",
                fmt::format("the stub at {} does not enter the file system of process {}",
                            client.endpoint().text, path.process),
                "give a directory tree with the node's own files: --sysroot DIR");
  }
  return static_cast<std::uint64_t>(reply->result);
}

Result<void> take_status(RemoteFile& file, const RemotePath& meant, std::string_view bytes) {
  if (bytes.empty()) {
    return fail("vfile.unsupported",
                fmt::format("the stub does not say how large {} is (vFile:fstat)", file.path),
                "give a directory tree with the node's own files: --sysroot DIR");
  }
  const auto reply = parse_file_reply(bytes);
  if (!reply || (reply->result >= 0 && reply->attachment.size() != stat_size))
    return garbled_file_reply(file.path, bytes);
  if (reply->result < 0)
    return refused_file("vfile.open", "look at", file.path, *reply);
  const auto status = reply->attachment;
  if ((big_endian(status.substr(mode_at, 4)) & file_type_mask) != regular_file) {
    return fail("vfile.not_regular",
                fmt::format("{} on the target is not a regular file", file.path),
                fmt::format("on the node: ls -lL {}", pasteable(file.path)));
  }
  file.inode = static_cast<std::uint32_t>(big_endian(status.substr(inode_at, 4)));
  if (meant.inode && static_cast<std::uint32_t>(*meant.inode) != file.inode) {
    return fail("vfile.replaced",
                fmt::format("{} on the target is another file than the one that the process has "
                            "mapped",
                            file.path),
                "give a directory tree with the file that runs: --sysroot DIR");
  }
  file.size = big_endian(status.substr(size_at, 8));
  file.modified = big_endian(status.substr(modified_at, 4));
  file.changed = big_endian(status.substr(changed_at, 4));
  return {};
}

std::string close_request(std::uint64_t descriptor) {
  return fmt::format("vFile:close:{:x}", descriptor);
}

} // namespace

std::size_t longest_path(const Client& client) {
  constexpr std::size_t framing = 32; // "$vFile:open:", ",0,0", "#" and the checksum
  const std::size_t packet = std::max(client.features().packet_size, framing);
  return std::min(limits::path, (packet - framing) / 2);
}

Result<std::vector<Result<RemoteFile>>> open_files(Client& client,
                                                   std::span<const RemotePath> paths) {
  std::vector<std::string> requests;
  for (const auto& path : paths) {
    requests.push_back(fmt::format("vFile:setfs:{:x}", path.process));
    requests.push_back(fmt::format("vFile:open:{},0,0", encode_hex(path.path)));
  }
  const auto replies = client.burst(requests);
  if (!replies)
    return Failure(replies.error());
  std::vector<Result<RemoteFile>> files;
  requests.clear();
  std::vector<std::uint64_t> unwanted;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const auto descriptor = opened(client, paths[i], (*replies)[2 * i], (*replies)[2 * i + 1]);
    if (!descriptor) {
      files.emplace_back(Failure(descriptor.error()));
      if (const auto reply = parse_file_reply((*replies)[2 * i + 1]); reply && reply->result >= 0)
        unwanted.push_back(static_cast<std::uint64_t>(reply->result));
      continue;
    }
    files.emplace_back(RemoteFile{paths[i].path, *descriptor});
    requests.push_back(fmt::format("vFile:fstat:{:x}", *descriptor));
  }
  for (const auto descriptor : unwanted)
    requests.push_back(close_request(descriptor));
  const auto statuses = client.burst(requests);
  if (!statuses)
    return Failure(statuses.error());
  std::vector<RemoteFile> not_usable;
  for (std::size_t i = 0, next = 0; i < files.size(); ++i) {
    auto& file = files[i];
    if (!file)
      continue;
    if (auto known = take_status(*file, paths[i], (*statuses)[next++]); !known) {
      not_usable.push_back(*file);
      file = forward(std::move(known));
    }
  }
  if (auto closed = close_files(client, not_usable); !closed)
    return forward(std::move(closed));
  return files;
}

Result<std::string> read_file_at(Client& client, const RemoteFile& file, std::uint64_t offset,
                                 std::size_t count) {
  // Bytes that need escaping take more room in a reply: gdbserver then sends fewer than were asked
  // for, while the requests behind are on their way already. The gaps are asked for again.
  const auto piece = file_piece_size(client) / 8 * 7;
  std::string bytes(count, '\0');
  auto end = count; // the file's, once a read meets it
  std::vector<Gap> gaps;
  for (std::size_t at = 0; at < count; at += piece)
    gaps.push_back({at, std::min(piece, count - at)});
  while (!gaps.empty()) {
    std::vector<std::string> requests;
    requests.reserve(gaps.size());
    for (const auto& gap : gaps)
      requests.push_back(
          fmt::format("vFile:pread:{:x},{:x},{:x}", file.descriptor, gap.size, offset + gap.at));
    const auto replies = client.burst(requests);
    if (!replies)
      return Failure(replies.error());
    std::vector<Gap> left;
    for (std::size_t i = 0; i < gaps.size(); ++i) {
      const auto& gap = gaps[i];
      const auto part = parse_file_piece(file.path, (*replies)[i], gap.size);
      if (!part)
        return Failure(part.error());
      part->copy(bytes.data() + gap.at, part->size());
      if (part->empty())
        end = std::min(end, gap.at);
      else if (part->size() < gap.size)
        left.push_back({gap.at + part->size(), gap.size - part->size()});
    }
    std::erase_if(left, [&](const Gap& gap) { return gap.at >= end; });
    gaps = std::move(left);
  }
  bytes.resize(end);
  return bytes;
}

Result<void> close_files(Client& client, std::span<const RemoteFile> files) {
  std::vector<std::string> requests;
  for (const auto& file : files)
    requests.push_back(close_request(file.descriptor));
  if (requests.empty())
    return {};
  if (auto closed = client.burst(requests); !closed)
    return forward(std::move(closed));
  return {};
}

} // namespace mqbridge::rsp
