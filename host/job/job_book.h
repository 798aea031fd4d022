#pragma once

#include "host/job/job_search.h"
#include "host/job/node_scan.h"
#include "host/launch/node.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mqbridge {

/// The name of a node in a FindTrouble: empty for this host.
std::string shown_name(const Node& node);

/// The value of --mpirun that names this process: 4711, or ssh:HOST:4711.
std::string launcher_value(const Node& node, std::int64_t pid);

/// The launcher of this rank, as its user has started it; nullptr: not known.
const LauncherProcess* front_of(const ScannedRank& rank);

/// Collects ranks of several nodes, and makes jobs of them.
class JobBook {
public:
  /// Adds a rank that its environment has told.
  void add(const Node& node, ScannedRank rank);

  /// The jobs by name, each with the arguments that find it again; ranks in order. If jobs of one
  /// name have the same rank on several nodes, they become "NAME@NODE", one for each node, and
  /// `warnings` say so.
  std::vector<FoundJob> jobs(std::vector<FindTrouble>& warnings) const;

private:
  struct Rank {
    Node node;
    ScannedRank scanned;
  };

  static FoundJob job_of(const std::string& name, const std::vector<Rank>& ranks);
  static FoundRank found(const std::string& job, const Rank& rank);
  static std::vector<std::string> arguments(const std::vector<Rank>& ranks);

  std::map<std::string, std::vector<Rank>> jobs_;
};

/// A fault of this code for each job that has fewer ranks than its processes say. `target`: the
/// form of a target, by which the user may name the others.
void say_missing_ranks(const std::vector<FoundJob>& jobs, std::vector<FindTrouble>& faults,
                       std::string_view code, std::string_view target);

/// The target for this process. `rank` (which `source` tells) and `job` are set as far as they are
/// known.
TargetSpec target_of(const Node& node, std::int64_t pid, std::optional<std::int64_t> rank,
                     RankSource source, const std::string& job);

} // namespace mqbridge
