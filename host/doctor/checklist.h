#pragma once

#include "host/dump/document.h"

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

/// What a dump is expected to take.
struct DumpCost {
  double elapsed_ms = 0;
  double held_ms = 0; ///< of it
};

/// What works, what limits, what fails, for one target (docs/reference/output.md, doctor).
struct Checklist {
  std::string endpoint;
  std::vector<Check> checks;
  bool queues_readable = false;
  std::optional<DumpCost> cost = {}; ///< nullopt: it cannot be dumped
};

/// The same of nodes on which all is alike.
struct NodeChecklist {
  std::vector<std::string> nodes; ///< by name; empty: this host
  std::size_t ranks = 0;          ///< of the job, on all of them
  Checklist list;                 ///< of the one rank of the first node that was examined in full
};

/// The same of a whole job.
struct JobChecklist {
  std::size_t ranks = 0;
  std::size_t nodes = 0;
  std::vector<NodeChecklist> groups;
  std::optional<DumpCost> cost = {};    ///< of all that can be dumped; held_ms is the longest hold
  std::vector<RankError> troubles = {}; ///< of the search for its ranks
};

} // namespace mqbridge
