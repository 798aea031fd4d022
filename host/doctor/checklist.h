#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mqbridge {

/// One line of `mqbridge doctor`.
struct Check {
  enum class Level : std::uint8_t { ok, limit, fault, skip, plan };
  Level level = Level::ok;
  std::string
      subject; ///< reach, stub, platform, MPI, transport, unexpected, DLL, types, queues, dump
  std::string text;
  std::vector<std::string> fixes; ///< lines to run, in order
};

/// What works, what limits, what fails, for one target (docs/reference/output.md, doctor).
struct Checklist {
  std::string endpoint;
  std::vector<Check> checks;
  bool queues_readable = false;
};

} // namespace mqbridge
