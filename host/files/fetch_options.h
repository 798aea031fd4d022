#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

class FileFetcher;

/// --fetch-files: whether files that this host lacks are read from the target.
enum class FetchMode : std::uint8_t { ask, always, never };

/// The question to the user while a target is held.
struct FetchQuestion {
  std::string endpoint;
  std::vector<std::string> files; ///< as the target names them
  std::uint64_t bytes = 0;        ///< of all together
  /// How long the target will be held for them, by the rate measured on this link.
  std::chrono::milliseconds held{};
  /// After that moment no answer is waited for (--max-stop).
  std::optional<std::chrono::steady_clock::time_point> answer_by = {};
};

struct FetchOptions {
  FetchMode mode = FetchMode::ask;
  /// For FetchMode::ask: returns true to read the files. Called on a rank's thread while its target
  /// is held: it must answer within a bounded time. A yes also counts for targets that need no more
  /// bytes and no more time, a no for the whole dump. Null: there is nobody to ask: nothing is
  /// read.
  std::function<bool(const FetchQuestion&)> ask = {};
};

/// The part of these options that belongs to one rank.
struct FetchContext {
  FileFetcher* fetcher = nullptr; ///< not owned; null: nothing is fetched
  std::optional<std::chrono::steady_clock::time_point> deadline = {}; ///< of --max-stop
  std::stop_token stop = {};                           ///< nobody waits for the rank any more
  std::function<void(std::string_view)> progress = {}; ///< what is being done: must not block

  bool over() const {
    return stop.stop_requested() || (deadline && std::chrono::steady_clock::now() >= *deadline);
  }
  void tell(std::string_view text) const {
    if (progress)
      progress(text);
  }
};

} // namespace mqbridge
