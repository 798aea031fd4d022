#include "host/image/file_store.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace mqbridge {
namespace {

namespace fs = std::filesystem;

Failure cannot_store(const fs::path& path, std::string_view why) {
  return fail("files.store", fmt::format("cannot keep files in {}: {}", path.string(), why),
              "name another directory with XDG_CACHE_HOME, or make room there");
}

/// What others can write to, others can put other files into.
Result<void> make_private_directory(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory.parent_path(), error);
  if (error)
    return cannot_store(directory, error.message());
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST)
    return cannot_store(directory, std::strerror(errno));
  struct stat status {};
  if (::lstat(directory.c_str(), &status) != 0)
    return cannot_store(directory, std::strerror(errno));
  if (!S_ISDIR(status.st_mode))
    return cannot_store(directory, "it is no directory");
  if (status.st_uid != ::geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return cannot_store(directory, "it is not this user's alone");
  return {};
}

/// The name comes from a target's memory, and becomes a file name.
bool is_build_id(std::string_view text) {
  return text.size() >= 2 && text.size() <= 128 &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

struct KeptFile {
  fs::path path;
  fs::file_time_type used;
  std::uint64_t size = 0;
};

std::vector<KeptFile> kept_files(const fs::path& directory) {
  std::vector<KeptFile> files;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone; // another process may be making room
    KeptFile file{entry->path(), entry->last_write_time(gone), 0};
    if (!gone)
      file.size = entry->file_size(gone);
    if (!gone)
      files.push_back(std::move(file));
  }
  return files;
}

} // namespace

IncomingFile::IncomingFile(fs::path path, int fd) : path_(std::move(path)), fd_(fd) {}

IncomingFile::IncomingFile(IncomingFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::move(other.fd_)) {
  other.path_.clear();
}

IncomingFile::~IncomingFile() {
  if (!path_.empty())
    ::unlink(path_.c_str());
}

Result<void> IncomingFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = ::write(fd_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return cannot_store(path_.parent_path(), std::strerror(errno));
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

FileStore::FileStore(fs::path directory, std::uint64_t limit,
                     std::unique_ptr<TemporaryDirectory> temporary)
    : directory_(std::move(directory)), limit_(limit), temporary_(std::move(temporary)) {}

Result<FileStore> FileStore::open(const std::optional<fs::path>& directory, std::uint64_t limit) {
  if (!directory) {
    auto made = TemporaryDirectory::make();
    if (!made)
      return forward(std::move(made));
    auto temporary = std::make_unique<TemporaryDirectory>(std::move(*made));
    const auto path = temporary->path();
    return FileStore(path, limit, std::move(temporary));
  }
  if (auto done = make_private_directory(directory->parent_path()); !done)
    return forward(std::move(done));
  if (auto done = make_private_directory(*directory); !done)
    return forward(std::move(done));
  return FileStore(*directory, limit, nullptr);
}

fs::path FileStore::place_of(std::string_view build_id) const {
  return directory_ / fmt::format("{}.elf", build_id);
}

std::optional<fs::path> FileStore::find(std::string_view build_id) const {
  if (!is_build_id(build_id))
    return std::nullopt;
  auto place = place_of(build_id);
  // The time of the last use decides what makes room.
  if (::utimensat(AT_FDCWD, place.c_str(), nullptr, AT_SYMLINK_NOFOLLOW) != 0)
    return std::nullopt;
  // A machine that went down, or a full disk, leaves half files; they would be in the way for ever.
  const auto file = ElfReader::open(place);
  if (file && file->build_id() == build_id)
    return place;
  ::unlink(place.c_str());
  return std::nullopt;
}

Result<IncomingFile> FileStore::begin() const {
  auto pattern = (directory_ / "incoming-XXXXXX").string();
  const int fd = ::mkostemp(pattern.data(), O_CLOEXEC);
  if (fd < 0)
    return cannot_store(directory_, std::strerror(errno));
  return IncomingFile(pattern, fd);
}

Result<fs::path> FileStore::keep(IncomingFile file, std::string_view build_id) const {
  const auto elf = ElfFile::open(file.path_);
  if (!elf)
    return Failure(elf.error());
  if (build_id.empty() && temporary_)
    return std::exchange(file.path_, {});
  if (!is_build_id(build_id) || (*elf)->build_id() != build_id) {
    return fail("files.other_build",
                fmt::format("the file is of another build: build-id {}, not {}",
                            (*elf)->build_id().empty() ? "none" : (*elf)->build_id(), build_id),
                "it was replaced since the process started: give the old one with --sysroot DIR");
  }
  auto place = place_of(build_id);
  std::error_code error;
  fs::rename(file.path_, place, error);
  if (error)
    return cannot_store(directory_, error.message());
  file.path_.clear();
  make_room(place);
  return place;
}

void FileStore::make_room(const fs::path& newest) const {
  auto files = kept_files(directory_);
  std::uint64_t total = 0;
  for (const auto& file : files)
    total += file.size;
  std::sort(files.begin(), files.end(),
            [](const KeptFile& a, const KeptFile& b) { return a.used < b.used; });
  for (const auto& file : files) {
    if (total <= limit_)
      return;
    if (file.path == newest)
      continue;
    ::unlink(file.path.c_str());
    total -= file.size;
  }
}

std::optional<fs::path> default_store_directory() {
  // Relative paths are to be ignored (XDG Base Directory Specification).
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && fs::path(cache).is_absolute())
    return fs::path(cache) / "mqbridge" / "files";
  const char* home = std::getenv("HOME");
  if (home != nullptr && fs::path(home).is_absolute())
    return fs::path(home) / ".cache" / "mqbridge" / "files";
  return std::nullopt;
}

} // namespace mqbridge
