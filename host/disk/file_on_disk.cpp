#include "host/disk/file_on_disk.h"

#include <cerrno>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mqbridge {
namespace {

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

} // namespace

FileOnDisk::FileOnDisk(FilePlace place, const FileDescriptor& fd) : place_(std::move(place)) {
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0)
    return;
  device_ = status.st_dev;
  inode_ = status.st_ino;
  size_ = static_cast<std::uint64_t>(status.st_size);
  modified_ = nanoseconds(status.st_mtim);
  changed_ = nanoseconds(status.st_ctim);
}

// Making a hard link to the file, as backups do, changes its inode's time: that is no other file.
bool FileOnDisk::is_same_as(const FileOnDisk& other) const {
  return device_ == other.device_ && inode_ == other.inode_ && size_ == other.size_ &&
         modified_ == other.modified_;
}

FileDescriptor FileOnDisk::open() const {
  struct stat status {};
  auto fd = open_if_regular(place_, status);
  return fd && is_same_as(FileOnDisk(place_, fd)) ? std::move(fd) : FileDescriptor();
}

std::string FileOnDisk::identity(std::string_view build_id) const {
  if (!build_id.empty() && !place_.root)
    return fmt::format("build-id {} size {} modified {}", build_id, size_, modified_);
  return fmt::format("file {} device {} inode {} size {} modified {} changed {}",
                     place_.root ? build_id : path().native(), device_, inode_, size_, modified_,
                     changed_);
}

std::size_t read_at(const FileDescriptor& fd, std::uint64_t offset, std::span<std::byte> into) {
  std::size_t done = 0;
  while (done < into.size()) {
    const auto count = ::pread(fd.get(), into.data() + done, into.size() - done,
                               static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

std::vector<std::byte> read_range(const FileDescriptor& fd, std::uint64_t offset,
                                  std::uint64_t size) {
  std::vector<std::byte> bytes(size);
  if (!fd || read_at(fd, offset, bytes) != size)
    bytes.clear();
  return bytes;
}

} // namespace mqbridge
