#pragma once

#include "rsp/client/client.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mqbridge::rsp {

/// A path, and whose file system it is in.
struct RemotePath {
  std::string path;
  /// The process whose mount name space is meant (vFile:setfs:PID); 0: the stub's own.
  std::int64_t process = 0;
  /// The inode that the path must lead to, as /proc/PID/maps shows it; nullopt: any. Its device is
  /// not compared: overlayfs and btrfs show another one there than fstat does.
  std::optional<std::uint64_t> inode = {};
};

/// A regular file of the target's that is open at the stub, read-only, until close_files().
struct RemoteFile {
  std::string path;
  std::uint64_t descriptor = 0;
  std::uint64_t size = 0;     ///< bytes
  std::uint64_t modified = 0; ///< seconds since 1970
  std::uint64_t changed = 0;  ///< when its inode changed: seconds since 1970
  std::uint32_t inode = 0;    ///< the lower 32 bits of its number, as the protocol has them
};

/// Bytes of the longest path that this stub can be asked to open: gdbserver does not check what it
/// is sent, and crashes on more than its packets hold.
std::size_t longest_path(const Client& client);

/// Opens each of `paths` and asks for its size, all in two round trips (vFile:setfs, open with
/// flags 0, fstat). Opening a FIFO, or some devices, blocks the stub for good, and its target with
/// it: name only paths that are known to be files. A path that turns out to be no regular file, or
/// another inode, is closed again: reading it could block the stub. Errors of one path: vfile.open,
/// vfile.unsupported, vfile.not_regular, vfile.replaced, stub.garbage. Error of all: a lost
/// connection.
Result<std::vector<Result<RemoteFile>>> open_files(Client& client,
                                                   std::span<const RemotePath> paths);

/// `count` bytes at `offset`, asked for in bursts of the largest pieces that the stub takes (a
/// caller keeps `count` to some hundred KiB). Shorter only at the end of the file. Errors:
/// vfile.read, stub.garbage, and those of the connection.
Result<std::string> read_file_at(Client& client, const RemoteFile& file, std::uint64_t offset,
                                 std::size_t count);

/// Answers of the stub are ignored; only a lost connection is an error.
Result<void> close_files(Client& client, std::span<const RemoteFile> files);

} // namespace mqbridge::rsp
