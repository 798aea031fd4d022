#pragma once

#include "host/disk/file_name.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace mqbridge {

/// Libraries whose symbols and types are needed, by the beginnings of their file names. Example:
/// "libmpi" stands for libmpi.so.40, and for libmpi_mpifh.so, too.
class LibraryNames {
public:
  LibraryNames() = default;
  explicit LibraryNames(std::vector<std::string_view> beginnings)
      : beginnings_(std::move(beginnings)) {}

  /// `path`: as the target names it.
  bool have(std::string_view path) const {
    const auto name = file_name(path);
    return std::any_of(beginnings_.begin(), beginnings_.end(),
                       [&](std::string_view beginning) { return name.starts_with(beginning); });
  }

private:
  std::vector<std::string_view> beginnings_;
};

} // namespace mqbridge
