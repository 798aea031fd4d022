#include "tests/support/temp_directory.h"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

namespace mqbridge::test {

TempDirectory::TempDirectory() {
  std::string name = (std::filesystem::temp_directory_path() / "mqbridge-test.XXXXXX").string();
  if (!mkdtemp(name.data()))
    throw std::system_error(errno, std::generic_category(), name);
  path_ = name;
}

TempDirectory::~TempDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

} // namespace mqbridge::test
