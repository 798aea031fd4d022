#include "host/disk/output_file.h"

#include "host/codes.h"
#include "host/disk/file_descriptor.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <random>
#include <sstream>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace mqbridge {
namespace {

namespace fs = std::filesystem;

Failure cannot_write(const fs::path& path, std::string_view why) {
  return fail(codes::output_write, fmt::format("cannot write {}: {}", path.string(), why),
              "choose another file, or make room: df -h " +
                  (path.has_parent_path() ? path.parent_path().string() : "."));
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const auto count = ::write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

} // namespace

Result<TemporaryDirectory> TemporaryDirectory::make() {
  std::error_code error;
  auto pattern = (fs::temp_directory_path(error) / "mqbridge-XXXXXX").string();
  if (error || ::mkdtemp(pattern.data()) == nullptr)
    return cannot_write(pattern, error ? error.message() : std::strerror(errno));
  return TemporaryDirectory(pattern);
}

TemporaryDirectory::TemporaryDirectory(TemporaryDirectory&& other) noexcept
    : path_(std::move(other.path_)) {
  other.path_.clear();
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code error;
  if (!path_.empty())
    fs::remove_all(path_, error);
}

int create_beside(const fs::path& target, fs::path& temporary, mode_t mode) {
  constexpr int most_attempts = 100;
  std::random_device random;
  for (int attempt = 0;; ++attempt) {
    temporary = target;
    temporary += fmt::format(".{:08x}.tmp", random());
    const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor >= 0 || errno != EEXIST || attempt == most_attempts)
      return descriptor;
  }
}

Result<void> write_file(const fs::path& path, std::string_view contents) {
  std::error_code error;
  struct stat status {};
  const bool exists = ::lstat(path.c_str(), &status) == 0;
  if (exists && !S_ISREG(status.st_mode)) // root would replace /dev/null, or the link /dev/stdout
    return cannot_write(path, "it is there, and no regular file");
  if (path.has_parent_path())
    fs::create_directories(path.parent_path(), error);
  fs::path partial;
  FileDescriptor file(create_beside(path, partial, exists ? 0600 : 0666));
  if (!file)
    return cannot_write(path, std::strerror(errno));
  if (exists)
    ::fchmod(file.get(), status.st_mode & 07777);
  // Some file systems (NFS, quotas) only tell here that there is no room.
  const bool written =
      write_all(file.get(), contents) && (::fsync(file.get()) == 0 || errno == EINVAL);
  if (!written || ::rename(partial.c_str(), path.c_str()) != 0) {
    const std::string why = std::strerror(errno);
    fs::remove(partial, error);
    return cannot_write(path, why);
  }
  return {};
}

Result<void> copy_to_output(const fs::path& source, const fs::path& output) {
  std::ifstream file(source, std::ios::binary);
  std::ostringstream contents;
  contents << file.rdbuf();
  if (!file)
    return cannot_write(output, "cannot read " + source.string());
  return write_file(output, contents.view());
}

} // namespace mqbridge
