#pragma once

#include "tests/builders/elf_builder.h"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge::test {

/// As long as it lives, what is kept from one run to the next goes to a directory of its own. While
/// none lives nothing is kept: no test meets what another one, or the user, has left.
class PrivateCache {
public:
  PrivateCache();
  ~PrivateCache();
  PrivateCache(const PrivateCache&) = delete;
  PrivateCache& operator=(const PrivateCache&) = delete;

  const std::filesystem::path& path() const { return directory_.path(); }
  /// The files of one folder of it.
  std::vector<std::filesystem::path> records(std::string_view folder) const;

private:
  TestDirectory directory_;
};

} // namespace mqbridge::test
