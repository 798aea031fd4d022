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

/// Identifies a file of a target: the build-id in the target's memory, and the facts that the
/// kernel there tells about the file. A build-id alone proves nothing: anybody can copy it into
/// another file.
struct FileOrigin {
  std::string build_id; ///< empty: the file has none, and cannot be found again
  std::uint64_t inode = 0;
  std::uint64_t size = 0;     ///< bytes
  std::uint64_t modified = 0; ///< seconds since 1970
  std::uint64_t changed = 0;  ///< seconds since 1970; the file's owner cannot set it
};

/// Files read from targets, kept from one run to the next by their origin. Thread-safe; several
/// processes may share the directory.
class FileStore {
public:
  /// Bytes of all files kept; beyond, those unused for longest make room.
  static constexpr std::uint64_t default_limit = std::uint64_t{8} << 30;

  /// Keeps files in `directory`, made if need be, for this user alone. nullopt: only as long as
  /// this object lives. Error: files.store (also if somebody else could write to the directory).
  static Result<FileStore> open(const std::optional<std::filesystem::path>& directory,
                                std::uint64_t limit = default_limit);

  /// The kept file of that origin, if it can be opened. A damaged file is removed.
  std::optional<std::filesystem::path> find(const FileOrigin& origin) const;
  /// Whether any file of that build is kept.
  bool has(std::string_view build_id) const;

  Result<IncomingFile> begin() const;

  /// Moves a complete file into the store, and returns its path; if the store has it by now, that
  /// one stays. It appears at once or not at all. Errors: files.other_build (it is not of
  /// origin.build_id), files.store, and those of ElfFile::open.
  Result<std::filesystem::path> keep(IncomingFile file, const FileOrigin& origin) const;
  /// The same for a file that must not be found again; only in a temporary store. Without a
  /// build-id there is nothing to compare it with.
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
