#include "host/image/output_file.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <system_error>
#include <unistd.h>

namespace mqbridge {
namespace {

namespace fs = std::filesystem;

Failure cannot_write(const fs::path& path, std::string_view why) {
  return fail("output.write", fmt::format("cannot write {}: {}", path.string(), why),
              "choose another file, or make room: df -h " +
                  (path.has_parent_path() ? path.parent_path().string() : "."));
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

Result<void> write_file(const fs::path& path, std::string_view contents) {
  std::error_code error;
  if (path.has_parent_path())
    fs::create_directories(path.parent_path(), error);
  const fs::path partial = path.string() + fmt::format(".{}.part", ::getpid());
  errno = 0;
  {
    std::ofstream file(partial, std::ios::binary | std::ios::trunc);
    file.write(contents.data(), static_cast<std::streamsize>(contents.size()));
    file.close();
    if (!file) {
      const auto why = std::string(errno == 0 ? "short write" : std::strerror(errno));
      fs::remove(partial, error);
      return cannot_write(path, why);
    }
  }
  fs::rename(partial, path, error);
  if (!error)
    return {};
  const auto why = error.message();
  fs::remove(partial, error);
  return cannot_write(path, why);
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
