#pragma once

#include "host/disk/file_descriptor.h"
#include "host/disk/process_root.h"

#include <concepts>
#include <filesystem>
#include <memory>
#include <optional>
#include <sys/stat.h>
#include <utility>

namespace mqbridge {

/// Where a file is: its path on this host, and whose symlinks are followed on the way there.
struct FilePlace {
  FilePlace() = default;
  /// A file of our own file system.
  template <std::convertible_to<std::filesystem::path> Path>
  FilePlace(const Path& own) : path(own) {}
  /// A file beneath that root, whose name begins `named`; nullptr: one of our own file system.
  FilePlace(std::filesystem::path named, std::shared_ptr<const ProcessRoot> beneath)
      : path(std::move(named)), root(std::move(beneath)) {}

  /// Another file of the same file system.
  FilePlace sibling(std::filesystem::path other) const { return {std::move(other), root}; }

  std::filesystem::path path; ///< as messages name it
  std::shared_ptr<const ProcessRoot> root;
};

/// What is there, without opening it; nullopt: errno says why it is not known.
std::optional<struct stat> status_of(const FilePlace& place);

/// Opens a regular file for reading. Anything else is not even opened: a FIFO would block, and a
/// device might act on it. Empty: errno says why, or `status` shows that it is of another kind.
FileDescriptor open_if_regular(const FilePlace& place, struct stat& status);

} // namespace mqbridge
