#pragma once

#include <filesystem>

namespace mqbridge::test {

/// A fresh directory, removed with all it holds.
class TempDirectory {
public:
  /// Throws std::system_error if the system gives none.
  TempDirectory();
  ~TempDirectory();
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }

private:
  std::filesystem::path path_;
};

} // namespace mqbridge::test
