#include "bench/queue_walk/cache_states.h"

#include <cstdlib>
#include <filesystem>

namespace mqbridge::bench {
namespace {

void use(const std::filesystem::path& directory) {
  setenv("XDG_CACHE_HOME", directory.c_str(), 1);
}

} // namespace

void CacheStates::use_fresh() {
  const auto fresh = all_ / "fresh";
  std::filesystem::remove_all(fresh);
  std::filesystem::create_directory(fresh);
  use(fresh);
}

std::filesystem::path CacheStates::directory_for(const std::string& key,
                                                 const std::function<void()>& fill) {
  auto& directory = filled_[key];
  if (directory.empty()) {
    directory = all_ / std::to_string(made_++);
    std::filesystem::create_directory(directory);
    use(directory);
    fill();
  }
  return directory;
}

void CacheStates::set(Knowledge knowledge, const std::string& program, const std::string& process,
                      const std::function<void()>& dump_another,
                      const std::function<void()>& dump_this) {
  switch (knowledge) {
  case Knowledge::nothing:
    use_fresh();
    return;
  case Knowledge::build: {
    const auto known = directory_for("program " + program, dump_another);
    use_fresh();
    // A dump adds what it sees: each begins with a copy.
    std::filesystem::copy(known, all_ / "fresh",
                          std::filesystem::copy_options::recursive |
                              std::filesystem::copy_options::overwrite_existing);
    return;
  }
  case Knowledge::process:
    use(directory_for("process " + process, dump_this));
    return;
  }
}

} // namespace mqbridge::bench
