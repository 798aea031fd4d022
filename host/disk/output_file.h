#pragma once

#include "rsp/result.h"

#include <filesystem>
#include <string_view>
#include <sys/types.h>

namespace mqbridge {

/// A directory that is removed with all its contents.
class TemporaryDirectory {
public:
  /// In $TMPDIR, else /tmp. Error: output.write.
  static Result<TemporaryDirectory> make();
  TemporaryDirectory(TemporaryDirectory&& other) noexcept;
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;
  ~TemporaryDirectory();
  const std::filesystem::path& path() const { return path_; }

private:
  explicit TemporaryDirectory(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

/// Makes an empty file beside `target`, to be renamed to it when it is complete. Its name, which
/// nobody can foresee and take before, goes into `temporary`. Its mode is `mode` less the umask.
/// -1, with errno: it cannot be made.
int create_beside(const std::filesystem::path& target, std::filesystem::path& temporary,
                  mode_t mode);

/// Writes a whole file, and makes the directories above it. The file appears complete or not at
/// all: it is written beside its place and renamed. It keeps the mode of the file that it replaces.
/// Anything that is no regular file, a link included, is not replaced. Error: output.write.
Result<void> write_file(const std::filesystem::path& path, std::string_view contents);

/// As write_file, with the contents of `source`.
Result<void> copy_to_output(const std::filesystem::path& source,
                            const std::filesystem::path& output);

} // namespace mqbridge
