#pragma once

#include "host/dump/document.h"
#include "host/dump/target_spec.h"
#include "rsp/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge {

// What a search for the ranks of MPI jobs has found. All text that comes from a node (names, paths)
// stands here as it came: who prints it makes it printable.

/// A process that is a rank of a job, or is taken for one.
struct FoundRank {
  /// How it is reached; with its rank, what said the rank, and its job, as far as they are known.
  TargetSpec target;
  std::string node;                ///< as its launcher names it; empty: this host
  std::optional<std::int64_t> pid; ///< on its node; nullopt: a stub or a core file
  std::string executable;          ///< its path; empty: not known
  std::string user;                ///< name or number; empty: not known
  std::string mpi; ///< "Open MPI", by the library that it has mapped; empty: not known
};

struct FoundJob {
  std::string name; ///< tells it from the others: "1234.0", "prte-n017-4711@1"; empty: not known
  std::optional<std::int64_t> size;   ///< ranks that it should have, as its launcher says
  std::vector<std::string> arguments; ///< that find it again: {"--mpirun", "4711"}; empty: none do
  std::vector<FoundRank> ranks;       ///< by rank; those whose rank is not known last
};

/// What could not be looked at, or is doubtful.
struct FindTrouble {
  std::string node; ///< empty: this host, or no node at all
  Error error;
  std::size_t processes = 0; ///< that it concerns; 0: the node as a whole, or none
};

struct Findings {
  std::vector<FoundJob> jobs;
  std::vector<FindTrouble> faults; ///< ranks may be missing because of them
  std::vector<FindTrouble> warnings;
};

} // namespace mqbridge
