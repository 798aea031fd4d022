#pragma once

#include "host/job/findings.h"
#include "host/job/node_scan.h"
#include "host/launch/node.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mqbridge {

/// How a FindTrouble names the node: empty for this host.
std::string shown_name(const Node& node);

/// Puts ranks of several nodes together as jobs.
class JobBook {
public:
  /// A rank that its environment has told.
  void add(const Node& node, ScannedRank rank);

  /// The jobs by name, each with the words that find it again; ranks in order. Jobs of one name
  /// that have the same rank on several nodes are "NAME@NODE", one for each node; `warnings` say
  /// so.
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

/// A fault for each job that has fewer ranks than its processes say.
void say_missing_ranks(const std::vector<FoundJob>& jobs, std::vector<FindTrouble>& faults);

/// The target that is this process; `rank`, which `source` says, and `job` as far as they are
/// known.
TargetSpec target_of(const Node& node, std::int64_t pid, std::optional<std::int64_t> rank,
                     RankSource source, const std::string& job);

} // namespace mqbridge
