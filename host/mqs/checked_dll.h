#pragma once

#include <cstdint>
#include <sys/stat.h>

namespace mqbridge {

/// The file of a debug DLL as the loading policy saw it. The worker loads this very file, or none:
/// another one may lie at its path by then. Needs libc only, for the worker's sake.
struct CheckedDll {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t changed_s =
      0; ///< ctime: contents, owner, mode and name count, and nobody can set it
  std::int64_t changed_ns = 0;
  /// Its dependences are searched beside it ($ORIGIN), so it has to be loaded by its path. Any
  /// other file is loaded by the very descriptor that was compared.
  bool uses_origin = false;

  bool is(const struct stat& file) const {
    return device == file.st_dev && inode == file.st_ino &&
           size == static_cast<std::uint64_t>(file.st_size) && changed_s == file.st_ctim.tv_sec &&
           changed_ns == file.st_ctim.tv_nsec;
  }
};
/// For the worker (host/confined/messages.h).
void describe(auto& form, CheckedDll& dll) {
  form(dll.device, dll.inode, dll.size, dll.changed_s, dll.changed_ns, dll.uses_origin);
}

inline CheckedDll checked_dll(const struct stat& file) {
  return {file.st_dev,         file.st_ino,          static_cast<std::uint64_t>(file.st_size),
          file.st_ctim.tv_sec, file.st_ctim.tv_nsec, false};
}

} // namespace mqbridge
