#include "tests/builders/private_cache.h"

#include <cstdlib>
#include <gtest/gtest.h>

namespace mqbridge::test {
namespace {

/// A place where nothing can be made.
void keep_nothing() {
  ::setenv("XDG_CACHE_HOME", "/dev/null/cache", 1);
}

class NothingKept : public testing::Environment {
public:
  void SetUp() override { keep_nothing(); }
};

const auto* const environment = testing::AddGlobalTestEnvironment(new NothingKept);

} // namespace

PrivateCache::PrivateCache() {
  ::setenv("XDG_CACHE_HOME", directory_.path().c_str(), 1);
}

PrivateCache::~PrivateCache() {
  keep_nothing();
}

std::vector<std::filesystem::path> PrivateCache::records(std::string_view folder) const {
  std::error_code none;
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(path() / "mqbridge" / folder, none))
    found.push_back(entry.path());
  return found;
}

} // namespace mqbridge::test
