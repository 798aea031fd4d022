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

/// What the user is asked while a target is held.
struct FetchQuestion {
  std::string endpoint;
  std::vector<std::string> files; ///< as the target names them
  std::uint64_t bytes = 0;        ///< of all together
  /// How long the target will be held for them, by the rate measured on this link.
  std::chrono::milliseconds held{};
  /// No answer is waited for after that (--max-stop).
  std::optional<std::chrono::steady_clock::time_point> answer_by = {};
};

struct FetchOptions {
  FetchMode mode = FetchMode::ask;
  /// For FetchMode::ask: true to read them. Asked on a rank's thread, the target being held: must
  /// answer within a bounded time. A yes counts for the targets that need no more bytes and no more
  /// time, a no for all of this dump. Null: there is nobody to ask, and nothing is read.
  std::function<bool(const FetchQuestion&)> ask = {};
};

/// One rank's part in it.
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
