#pragma once

#include "host/dump/values/document.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge {

/// One line of `mqbridge doctor`.
struct Check {
  enum class Level : std::uint8_t { ok, limit, fault, skip, plan };
  Level level = Level::ok;
  std::string subject; ///< reach, stub, platform, MPI, transport, unexpected, DLL, types, recorder,
                       ///< queues, dump
  std::string text;
  std::vector<std::string> fixes; ///< lines to run, in order
};

/// The expected cost of a dump.
struct DumpCost {
  double elapsed_ms = 0;
  double held_ms = 0; ///< the part of it for which the target is held
};

/// What works, what limits and what fails for one target (docs/reference/output.md, doctor).
struct Checklist {
  std::string endpoint;
  std::vector<Check> checks;
  bool queues_readable = false;
  std::optional<DumpCost> cost = {}; ///< nullopt: no dump is possible
};

/// The same for nodes with equal results.
struct NodeChecklist {
  std::vector<std::string> nodes; ///< by name; empty: this host
  std::size_t ranks = 0;          ///< of the job, on all of them
  Checklist list;                 ///< for the one rank that was examined in full, on the first node
};

/// The same of a whole job.
struct JobChecklist {
  std::size_t ranks = 0;
  std::size_t nodes = 0;
  std::vector<NodeChecklist> groups;
  std::optional<DumpCost> cost = {};    ///< of all possible dumps; held_ms is the longest hold
  std::vector<RankError> troubles = {}; ///< of the search for its ranks
};

} // namespace mqbridge
