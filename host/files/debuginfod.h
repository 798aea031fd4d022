#pragma once

#include "rsp/result.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace mqbridge {

struct DebuginfodLimits {
  /// The time for the first byte from any server. A target is held meanwhile: servers that are down
  /// or slow are given up soon, and not asked again.
  std::chrono::milliseconds silence{3'000};
  std::chrono::milliseconds total{60'000}; ///< for one file
};

/// Files by build-id from the servers that DEBUGINFOD_URLS names, through libdebuginfod, which
/// keeps them in a cache of its own ($DEBUGINFOD_CACHE_PATH, $XDG_CACHE_HOME/debuginfod_client).
/// The library is loaded at the first question: it loads a TLS library, and takes a good part of a
/// second to start. Thread-safe; a second thread that wants the same file waits for the first.
class Debuginfod {
public:
  /// Called while a file comes, and while another thread fetches it: bytes so far, and bytes in all
  /// (0: not known). False gives up.
  using Progress = std::function<bool(std::uint64_t bytes, std::uint64_t of)>;

  /// nullptr if DEBUGINFOD_URLS is unset or empty: no server is ever asked.
  static std::unique_ptr<Debuginfod> from_environment(DebuginfodLimits limits = {});

  enum class Kind : std::uint8_t { executable, debuginfo };

  /// The file of that build; nullopt: no server has it, or one failed before: then none is asked
  /// again. Errors: debuginfod.library (it is not installed), debuginfod.timeout,
  /// debuginfod.failed, debuginfod.given_up (by `progress`).
  Result<std::optional<std::filesystem::path>> find(Kind kind, std::string_view build_id,
                                                    const Progress& progress);

private:
  explicit Debuginfod(DebuginfodLimits limits) : limits_(limits) {}
  using Answer = Result<std::optional<std::filesystem::path>>;
  Answer ask(Kind kind, const std::string& build_id, const Progress& progress) const;

  DebuginfodLimits limits_;
  std::timed_mutex mutex_;
  bool given_up_ = false; ///< a server failed: nobody is asked again
  std::map<std::pair<Kind, std::string>, Answer> answers_;
};

} // namespace mqbridge
