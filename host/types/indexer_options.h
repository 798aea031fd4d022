#pragma once

#include "host/confined/confined_process.h"

#include <chrono>
#include <filesystem>

namespace mqbridge {

/// How DWARF is read: by a process of its own, which may crash, loop and lie.
struct IndexerOptions {
  /// The program `mqbridge-indexer`.
  std::filesystem::path program = sandbox::beside_this_program("mqbridge-indexer");
  /// System calls are filtered; false: --no-sandbox.
  bool sandboxed = true;
  /// The time for one answer. libdwarf is slow on some corrupt files: these are given up.
  std::chrono::milliseconds patience = std::chrono::seconds(20);
};

} // namespace mqbridge
