#pragma once

#include "host/disk/cache_directory.h"
#include "host/disk/output_file.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace mqbridge {

/// Which file of a target's it is: the build that is in the target's memory, and what the kernel
/// there says of the file that was read. A build-id alone says nothing: anybody can give a file the
/// one of another.
struct FileOrigin {
  std::string build_id; ///< empty: it has none, and will not be found again
  std::uint64_t inode = 0;
  std::uint64_t size = 0;     ///< bytes
  std::uint64_t modified = 0; ///< seconds since 1970
  std::uint64_t changed = 0;  ///< seconds since 1970; not for the file's owner to choose
};

/// Files that were read from targets, kept from one run to the next by where they are from.
/// Thread-safe; several processes may share the directory.
class FileStore {
public:
  /// Bytes of all files kept; beyond, those unused for longest make room.
  static constexpr std::uint64_t default_limit = std::uint64_t{8} << 30;

  /// In `directory`, made if need be, for this user alone. nullopt: for the life of this object
  /// only. Error: files.store (among others where somebody else could write to it).
  static Result<FileStore> open(const std::optional<std::filesystem::path>& directory,
                                std::uint64_t limit = default_limit);

  /// The file that was read from there, if it is kept and can be opened. One that is damaged is
  /// removed.
  std::optional<std::filesystem::path> find(const FileOrigin& origin) const;
  /// Whether any file of that build is kept.
  bool has(std::string_view build_id) const;

  Result<IncomingFile> begin() const;

  /// Keeps a file that is complete, and says where; if it is there by now, that one stays. It
  /// appears at once or not at all. Errors: files.other_build (it is not of origin.build_id),
  /// files.store, and those of ElfFile::open.
  Result<std::filesystem::path> keep(IncomingFile file, const FileOrigin& origin) const;
  /// The same for one that is not to be found again, a temporary store only. Without build-id there
  /// is nothing to compare it with.
  Result<std::filesystem::path> keep_apart(IncomingFile file, std::string_view build_id) const;

private:
  FileStore(CacheDirectory directory, std::unique_ptr<TemporaryDirectory> temporary)
      : directory_(std::move(directory)), temporary_(std::move(temporary)) {}

  CacheDirectory directory_;
  std::unique_ptr<TemporaryDirectory> temporary_; ///< null: the files stay
};

/// `files` in cache_root(); nullopt where there is none.
std::optional<std::filesystem::path> default_store_directory();

} // namespace mqbridge
