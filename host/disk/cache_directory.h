#pragma once

#include "host/disk/file_descriptor.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace mqbridge {

/// The directory that the variable names, else this one below the user's home; nullopt where
/// neither is set to an absolute path (XDG Base Directory Specification: relative ones are to be
/// ignored).
std::optional<std::filesystem::path> user_directory(const char* variable,
                                                    const std::filesystem::path& below_home);

/// $XDG_CACHE_HOME/mqbridge, else ~/.cache/mqbridge: user_directory().
std::optional<std::filesystem::path> cache_root();

/// A file on its way into a cache directory. Removed again unless it is put there.
class IncomingFile {
public:
  IncomingFile(IncomingFile&& other) noexcept;
  IncomingFile& operator=(IncomingFile&&) = delete;
  ~IncomingFile();

  /// Error: files.store.
  Result<void> append(std::string_view bytes);
  const std::filesystem::path& path() const { return path_; }

private:
  friend class CacheDirectory;
  IncomingFile(std::filesystem::path path, int fd);

  std::filesystem::path path_;
  FileDescriptor fd_;
};

/// A directory of files that can be made again, for this user alone. It is bounded in bytes and to
/// 4,096 files: the files that were unused for longest make room. Looking at all files for each new
/// one would take minutes if thousands of ranks are kept. So a process looks at them when it puts
/// the first file there, and again after it has put a 64th of either bound there; by so much the
/// bounds may be exceeded. Several threads and processes may share it: each file appears at once or
/// not at all, and a later writer removes the leftovers of a killed one.
class CacheDirectory {
public:
  /// Makes it if need be, and the directory above. Error: files.store (also if somebody else could
  /// write to it, and so put other files into it).
  static Result<CacheDirectory> open(const std::filesystem::path& directory, std::uint64_t limit);
  /// A directory that is private already, and is removed with its owner.
  static CacheDirectory temporary(std::filesystem::path directory, std::uint64_t limit) {
    return {std::move(directory), limit};
  }

  const std::filesystem::path& path() const { return directory_; }

  /// Marks the file as used now, by its access time alone. False: there is no such file.
  bool touch(const std::filesystem::path& file) const;
  /// Error: files.store.
  Result<IncomingFile> begin() const;
  /// Puts a complete file there under `name`, in the place of an older one with that name, and
  /// makes room. Error: files.store.
  Result<std::filesystem::path> put(IncomingFile file, std::string_view name) const;

private:
  /// The files that this process has put there since it last looked at all files.
  struct Unseen {
    std::mutex mutex;
    bool first = true;
    std::uint64_t bytes = 0;
    std::size_t files = 0;
  };

  CacheDirectory(std::filesystem::path directory, std::uint64_t limit)
      : directory_(std::move(directory)), limit_(limit) {}
  bool wants_room(std::uint64_t more_bytes) const;
  void make_room(const std::filesystem::path& newest) const;

  std::filesystem::path directory_;
  std::uint64_t limit_;
  std::shared_ptr<Unseen> unseen_ = std::make_shared<Unseen>();
};

} // namespace mqbridge
