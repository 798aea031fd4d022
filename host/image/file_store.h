#pragma once

#include "host/image/cache_directory.h"
#include "host/image/output_file.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace mqbridge {

/// Files that were read from targets, kept from one run to the next by the build-id that they have
/// in a target's memory. Thread-safe; several processes may share the directory.
class FileStore {
public:
  /// Bytes of all files kept; beyond, those unused for longest make room.
  static constexpr std::uint64_t default_limit = std::uint64_t{8} << 30;

  /// In `directory`, made if need be, for this user alone. nullopt: for the life of this object
  /// only. Error: files.store (among others where somebody else could write to it).
  static Result<FileStore> open(const std::optional<std::filesystem::path>& directory,
                                std::uint64_t limit = default_limit);

  /// The file of that build, if it is kept and can be opened. One that is damaged is removed.
  std::optional<std::filesystem::path> find(std::string_view build_id) const;

  Result<IncomingFile> begin() const;

  /// Keeps a file that is complete, and says where; if that build is there by now, that one stays.
  /// It appears at once or not at all. Without build-id there is nothing to compare it with, nor to
  /// find it by: a temporary store only.
  /// Errors: files.other_build (it is not of `build_id`), files.store, and those of ElfFile::open.
  Result<std::filesystem::path> keep(IncomingFile file, std::string_view build_id) const;

private:
  FileStore(CacheDirectory directory, std::unique_ptr<TemporaryDirectory> temporary)
      : directory_(std::move(directory)), temporary_(std::move(temporary)) {}

  CacheDirectory directory_;
  std::unique_ptr<TemporaryDirectory> temporary_; ///< null: the files stay
};

/// `files` in cache_root(); nullopt where there is none.
std::optional<std::filesystem::path> default_store_directory();

} // namespace mqbridge
