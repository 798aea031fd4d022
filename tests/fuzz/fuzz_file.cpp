#include "tests/fuzz/fuzz_file.h"

#include "tests/fuzz/fuzz_input.h"

#include <cstdlib>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

namespace mqbridge::test {

FuzzFile::FuzzFile() : fd_(::memfd_create("fuzz", MFD_CLOEXEC)) {
  require(fd_ >= 0);
  path_ = fmt::format("/proc/self/fd/{}", fd_);
  ::setenv("XDG_CACHE_HOME", "/dev/null/cache", 1);
  ::unsetenv("DEBUGINFOD_URLS");
}

FuzzFile::~FuzzFile() {
  ::close(fd_);
}

void FuzzFile::replace(std::string_view contents) const {
  require(::ftruncate(fd_, 0) == 0);
  require(::pwrite(fd_, contents.data(), contents.size(), 0) ==
          static_cast<ssize_t>(contents.size()));
}

} // namespace mqbridge::test
