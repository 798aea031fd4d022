#pragma once

#include "host/disk/file_descriptor.h"
#include "rsp/result.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace mqbridge {

/// The file system of a process of this host that sees other files than we do: a process in a
/// container, or behind chroot. Its root is held open, so that a name leads to the same files after
/// the process has ended, and its number belongs to another one. Thread-safe.
class ProcessRoot {
public:
  /// Of process `pid`, which is held, so that its number is not given away meanwhile. Processes
  /// that see the same files share one. nullptr: the process sees our own files, or we may not look
  /// at it. Error: image.root (names cannot be followed safely beneath its root).
  static Result<std::shared_ptr<const ProcessRoot>> of(std::int64_t pid);

  /// The name of its root on this host, with which names of its files begin: "/proc/4711/root".
  const std::filesystem::path& name() const { return name_; }
  /// A text that is the same for the same files, whatever process sees them.
  const std::string& identity() const { return identity_; }

  /// A descriptor that says which file "/proc/4711/root/usr/lib/libmpi.so" is, and with which
  /// nothing can be read (O_PATH): neither a FIFO nor a device notices. Symlinks and ".." are
  /// followed as the process would, and never lead out of its root. Empty: errno says why.
  FileDescriptor locate(const std::filesystem::path& path) const;

private:
  ProcessRoot(std::filesystem::path name, std::string identity, FileDescriptor root,
              FileDescriptor name_space)
      : name_(std::move(name)), identity_(std::move(identity)), root_(std::move(root)),
        name_space_(std::move(name_space)) {}

  std::filesystem::path name_;
  std::string identity_;
  FileDescriptor root_;
  FileDescriptor name_space_; ///< kept, since its mounts go, and its number comes again, without it
};

} // namespace mqbridge
