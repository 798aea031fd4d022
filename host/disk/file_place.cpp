#include "host/disk/file_place.h"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>

namespace mqbridge {
namespace {

// O_NONBLOCK: a FIFO may have taken the file's place since it was looked at.
constexpr int reading = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

} // namespace

std::optional<struct stat> status_of(const FilePlace& place) {
  struct stat status {};
  if (!place.root)
    return ::stat(place.path.c_str(), &status) == 0 ? std::optional(status) : std::nullopt;
  const auto found = place.root->locate(place.path);
  return found && ::fstat(found.get(), &status) == 0 ? std::optional(status) : std::nullopt;
}

FileDescriptor open_if_regular(const FilePlace& place, struct stat& status) {
  status = {};
  const auto found = place.root ? place.root->locate(place.path) : FileDescriptor();
  if (place.root ? !found || ::fstat(found.get(), &status) != 0
                 : ::stat(place.path.c_str(), &status) != 0)
    return FileDescriptor();
  if (!S_ISREG(status.st_mode))
    return FileDescriptor();
  // A symlink, or a name in a target's file, may lead to a file of the kernel's own that looks
  // regular, and some of those lose what is read from them (/proc/kmsg). They have no size.
  if (status.st_size == 0 && (place.root || place.path.string().starts_with("/proc/"))) {
    errno = ENODATA;
    return FileDescriptor();
  }
  const auto path = place.root ? fmt::format("/proc/self/fd/{}", found.get()) : place.path.string();
  FileDescriptor fd(::open(path.c_str(), reading));
  if (!fd || ::fstat(fd.get(), &status) != 0) {
    status = {};
    return FileDescriptor();
  }
  return S_ISREG(status.st_mode) ? std::move(fd) : FileDescriptor();
}

} // namespace mqbridge
