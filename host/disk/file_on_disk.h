#pragma once

#include "host/disk/file_descriptor.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// A file that was opened once and may be read again later: a job has thousands of images, too many
/// to keep them all open. A file that took its place meanwhile is noticed.
class FileOnDisk {
public:
  FileOnDisk() = default;
  /// Remembers which file `fd` is. `path`: how it was opened.
  FileOnDisk(std::filesystem::path path, const FileDescriptor& fd);

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const { return size_; }

  /// Empty: it cannot be opened, or is another file now.
  FileDescriptor open() const;

  /// Names the contents of the file, for what is kept about them from one run to the next. With a
  /// build-id, copies that keep size and time share it; without, it is this one file, unchanged.
  std::string identity(std::string_view build_id) const;

private:
  bool is_same_as(const FileOnDisk& other) const;

  std::filesystem::path path_;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
  std::uint64_t size_ = 0;
  std::int64_t modified_ = 0; ///< nanoseconds
  std::int64_t changed_ = 0;  ///< of its inode, nanoseconds
};

/// As many bytes as there are at `offset`, at most `into.size()`; 0 where reading fails.
std::size_t read_at(const FileDescriptor& fd, std::uint64_t offset, std::span<std::byte> into);

/// All of a range; empty where it cannot be read whole. The caller has compared it with the size of
/// the file.
std::vector<std::byte> read_range(const FileDescriptor& fd, std::uint64_t offset,
                                  std::uint64_t size);

} // namespace mqbridge
