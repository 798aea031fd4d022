#pragma once

#include <unistd.h>
#include <utility>

namespace mqbridge {

/// A file descriptor that closes itself.
class FileDescriptor {
public:
  explicit FileDescriptor(int fd = -1) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor() {
    if (fd_ >= 0)
      ::close(fd_);
  }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); } ///< the caller closes it
  explicit operator bool() const { return fd_ >= 0; }

private:
  int fd_;
};

} // namespace mqbridge
