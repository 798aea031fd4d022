#pragma once

#include "host/job/job_search.h"
#include "host/job/node_scan.h"
#include "host/job/table_job.h"
#include "host/launch/node.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mqbridge {

/// Whether the process with these ancestors descends from `pid`.
bool descends(std::span<const std::int64_t> ancestors, std::int64_t pid);

/// The nodes of a launcher's daemons, as the command lines say with which the launcher and its
/// daemons start (further) daemons.
class DaemonNodes {
public:
  /// `reached_by`: as in JobRequest.
  DaemonNodes(NodeProcess launcher, std::optional<Launcher> reached_by)
      : launcher_(std::move(launcher)), reached_by_(reached_by) {}

  /// The nodes on which daemons are started from `nodes`, whose processes are in `scans`. The
  /// launcher's own node comes first, in the first call. A name that is no node's becomes a fault.
  std::vector<Node> started_from(std::span<const Node> nodes, std::span<const NodeScan> scans,
                                 std::vector<FindTrouble>& faults);

  /// Whether no daemon was seen to be started.
  bool empty() const { return daemons_.empty(); }
  /// Whether these daemons start the ranks of this job.
  bool start(std::string_view job) const;
  /// Whether there are daemons, and each one's node has been named.
  bool all_are_known() const;

private:
  struct Daemons {
    std::size_t count = 0;       ///< on all nodes, the launcher among them
    std::set<std::string> hosts; ///< on which the others were started
  };

  bool is_launchers(const Node& node, const DaemonStart& start) const;
  Result<Node> node_of(const std::string& host, const DaemonStart& start) const;

  const NodeProcess launcher_;
  const std::optional<Launcher> reached_by_;
  std::map<std::string, Daemons> daemons_; ///< by DaemonCommand::jobs
};

} // namespace mqbridge
