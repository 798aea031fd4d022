#pragma once

#include "host/disk/file_place.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// A file that was opened once and may be read again later: a job has thousands of images, too many
/// to keep them all open. It notices when another file has taken its place.
class FileOnDisk {
public:
  FileOnDisk() = default;
  /// Remembers which file `fd` is. `place`: where it was opened.
  FileOnDisk(FilePlace place, const FileDescriptor& fd);

  const FilePlace& place() const { return place_; }
  const std::filesystem::path& path() const { return place_.path; }
  std::uint64_t size() const { return size_; }

  /// Empty: the file cannot be opened, or is another one now.
  FileDescriptor open() const;

  /// A text that identifies the contents of the file, for facts that are kept about it. With a
  /// build-id, copies of the same size and time have the same text; without, it is this one file's.
  /// So it is for a file beneath a process's root: whoever made a container can copy a build-id
  /// into another file.
  std::string identity(std::string_view build_id) const;

private:
  bool is_same_as(const FileOnDisk& other) const;

  FilePlace place_;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
  std::uint64_t size_ = 0;
  std::int64_t modified_ = 0; ///< nanoseconds
  std::int64_t changed_ = 0;  ///< of its inode, nanoseconds
};

/// Reads at most `into.size()` bytes at `offset`, and returns how many there were; 0 if reading
/// fails.
std::size_t read_at(const FileDescriptor& fd, std::uint64_t offset, std::span<std::byte> into);

/// All bytes of a range; empty if they cannot all be read. The caller must have compared the range
/// with the size of the file.
std::vector<std::byte> read_range(const FileDescriptor& fd, std::uint64_t offset,
                                  std::uint64_t size);

} // namespace mqbridge
