#pragma once

#include "tests/support/temp_directory.h"

#include <functional>
#include <map>
#include <string>

namespace mqbridge::bench {

/// What mqbridge knows of a process before it looks at it.
enum class Knowledge : std::uint8_t {
  nothing, ///< the cache directory is empty: no build-id was ever seen
  build,   ///< another process of the same program was dumped, this one never
  process, ///< this very process was dumped before
};

/// Cache directories in these states, by XDG_CACHE_HOME of this process. One thread; not while a
/// dump is under way.
class CacheStates {
public:
  /// Makes the state for the next dump of the process named `process`, of the program named
  /// `program`. If the cache directory must be filled for that, it calls `dump_another`, which
  /// dumps another process of the program, or `dump_this`, which dumps the process itself.
  void set(Knowledge knowledge, const std::string& program, const std::string& process,
           const std::function<void()>& dump_another, const std::function<void()>& dump_this);

private:
  std::filesystem::path directory_for(const std::string& key, const std::function<void()>& fill);
  void use_fresh();

  test::TempDirectory all_;
  std::map<std::string, std::filesystem::path> filled_;
  int made_ = 0;
};

} // namespace mqbridge::bench
