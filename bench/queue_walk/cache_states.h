#pragma once

#include "tests/support/temp_directory.h"

#include <functional>
#include <map>
#include <string>

namespace mqbridge::bench {

/// What mqbridge knows beforehand of what it is about to look at.
enum class Knowledge : std::uint8_t {
  nothing, ///< the cache directory is empty: no build-id was ever seen
  build,   ///< another process of the same program was dumped, this one never
  process, ///< this very process was dumped before
};

/// Cache directories in these states, by XDG_CACHE_HOME of this process. One thread; not while a
/// dump is under way.
class CacheStates {
public:
  /// Makes the state for the next dump of a process that `process` names, of a program that
  /// `program` names. `dump_another` and `dump_this`: dump another process of that program, and the
  /// process itself, with the cache directory as it is then; called when it must be prepared.
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
