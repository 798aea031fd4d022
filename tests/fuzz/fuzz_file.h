#pragma once

#include <filesystem>
#include <string_view>

namespace mqbridge::test {

/// A file in memory, of which a fuzz target rewrites the contents: what is opened by path only.
/// What mqbridge keeps from one run to the next is kept nowhere as soon as there is one.
class FuzzFile {
public:
  FuzzFile();
  ~FuzzFile();
  FuzzFile(const FuzzFile&) = delete;
  FuzzFile& operator=(const FuzzFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void replace(std::string_view contents) const;

private:
  int fd_;
  std::filesystem::path path_;
};

} // namespace mqbridge::test
