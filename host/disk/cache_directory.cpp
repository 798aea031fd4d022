#include "host/disk/cache_directory.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace mqbridge {
namespace {

namespace fs = std::filesystem;

// The most files: all of them are looked at whenever room is made.
constexpr std::size_t max_files = 4096;
constexpr std::size_t looks_a_bound = 64;

constexpr std::string_view incoming_prefix = "incoming-";

// A writer that is silent for longer has died: downloads give up much earlier. The clock alone does
// not decide, since it may jump: a living writer has its file locked.
constexpr std::chrono::hours abandoned_after{1};

Failure cannot_store(const fs::path& path, std::string_view why) {
  return fail("files.store", fmt::format("cannot keep files in {}: {}", path.string(), why),
              "name another directory with XDG_CACHE_HOME, or make room there");
}

/// Other users must not be able to write there: they could put other files into it.
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

using Time = std::chrono::system_clock::time_point;

Time time_of(const timespec& time) {
  const auto since_epoch =
      std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  return Time(std::chrono::duration_cast<Time::duration>(since_epoch));
}

struct KeptFile {
  fs::path path;
  Time written;
  Time used;
  std::uint64_t size = 0;

  bool is_incoming() const { return path.filename().string().starts_with(incoming_prefix); }
  bool is_abandoned() const {
    // A time in the future counts, too: the clock may have been set back since.
    return is_incoming() &&
           std::chrono::abs(std::chrono::system_clock::now() - written) > abandoned_after;
  }
  /// Whether a living writer has the file locked; where the file system has no locks, nobody can
  /// tell.
  bool is_being_written() const {
    if (!is_incoming())
      return false;
    const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    return fd && ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  }
};

std::vector<KeptFile> kept_files(const fs::path& directory) {
  std::vector<KeptFile> files;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    struct stat status {};
    // Another process may be making room.
    if (::lstat(entry->path().c_str(), &status) != 0 || !S_ISREG(status.st_mode))
      continue;
    const auto written = time_of(status.st_mtim);
    files.push_back({entry->path(), written, std::max(written, time_of(status.st_atim)),
                     static_cast<std::uint64_t>(status.st_size)});
  }
  return files;
}

} // namespace

std::optional<fs::path> user_directory(const char* variable, const fs::path& below_home) {
  const char* const named = std::getenv(variable);
  if (named != nullptr && fs::path(named).is_absolute())
    return named;
  const char* const home = std::getenv("HOME");
  if (home != nullptr && fs::path(home).is_absolute())
    return fs::path(home) / below_home;
  return std::nullopt;
}

std::optional<fs::path> cache_root() {
  const auto caches = user_directory("XDG_CACHE_HOME", ".cache");
  return caches ? std::optional(*caches / "mqbridge") : std::nullopt;
}

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

Result<CacheDirectory> CacheDirectory::open(const fs::path& directory, std::uint64_t limit) {
  if (auto done = make_private_directory(directory.parent_path()); !done)
    return forward(std::move(done));
  if (auto done = make_private_directory(directory); !done)
    return forward(std::move(done));
  return CacheDirectory(directory, limit);
}

// The modification time stays: by it others know that it is still the same file (FileOnDisk).
bool CacheDirectory::touch(const fs::path& file) const {
  const std::array times = {timespec{0, UTIME_NOW}, timespec{0, UTIME_OMIT}};
  return ::utimensat(AT_FDCWD, file.c_str(), times.data(), AT_SYMLINK_NOFOLLOW) == 0;
}

Result<IncomingFile> CacheDirectory::begin() const {
  auto pattern = (directory_ / fmt::format("{}XXXXXX", incoming_prefix)).string();
  const int fd = ::mkostemp(pattern.data(), O_CLOEXEC);
  if (fd < 0)
    return cannot_store(directory_, std::strerror(errno));
  ::flock(fd, LOCK_EX | LOCK_NB);
  return IncomingFile(pattern, fd);
}

Result<fs::path> CacheDirectory::put(IncomingFile file, std::string_view name) const {
  auto place = directory_ / name;
  std::error_code error;
  const auto bytes = fs::file_size(file.path_, error);
  if (!error)
    fs::rename(file.path_, place, error);
  if (error)
    return cannot_store(directory_, error.message());
  file.path_.clear();
  if (wants_room(bytes))
    make_room(place);
  return place;
}

bool CacheDirectory::wants_room(std::uint64_t more_bytes) const {
  const std::lock_guard lock(unseen_->mutex);
  unseen_->bytes += more_bytes;
  unseen_->files += 1;
  if (!unseen_->first && unseen_->bytes < limit_ / looks_a_bound &&
      unseen_->files < max_files / looks_a_bound)
    return false;
  unseen_->first = false;
  unseen_->bytes = 0;
  unseen_->files = 0;
  return true;
}

void CacheDirectory::make_room(const fs::path& newest) const {
  auto files = kept_files(directory_);
  std::uint64_t total = 0;
  for (const auto& file : files)
    total += file.size;
  std::sort(files.begin(), files.end(),
            [](const KeptFile& a, const KeptFile& b) { return a.used < b.used; });
  auto left = files.size();
  for (const auto& file : files) {
    const bool there_is_room = total <= limit_ && left <= max_files;
    if (file.path == newest || (there_is_room && !file.is_abandoned()) || file.is_being_written())
      continue;
    ::unlink(file.path.c_str());
    total -= file.size;
    --left;
  }
}

} // namespace mqbridge
