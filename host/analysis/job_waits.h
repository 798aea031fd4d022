#pragma once

#include "host/analysis/call_waits.h"
#include "host/analysis/channels.h"
#include "host/analysis/job_picture.h"
#include "host/analysis/request_waits.h"
#include "host/analysis/threads_of_process.h"
#include "host/analysis/wait_graph.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace mqbridge {

/// What one process does, or waits for.
struct ProcessWaits {
  std::vector<ThreadView> threads;
  std::vector<CallWait> calls; ///< of the threads that are in MPI
  /// Why nobody can say whether it goes on; empty: that is known.
  std::string unknown;
  /// Threads that sleep beside those in MPI, or between calls of MPI: what they will do is not
  /// known.
  std::vector<const BlockedCall*> idle;
};

/// The whole wait-for graph of a job. Refers to the picture, which outlives it.
class JobWaits {
public:
  explicit JobWaits(const JobPicture& picture);
  JobWaits(const JobWaits&) = delete;
  JobWaits& operator=(const JobWaits&) = delete;

  const WaitGraph& graph() const { return graph_; }
  const JobPicture& picture() const { return picture_; }
  const Channels& channels() const { return channels_; }
  const RequestWaits& requests() const { return requests_; }
  /// By process, as JobPicture has them.
  const std::vector<WaitNode>& nodes() const { return nodes_; }
  const ProcessWaits& of(std::size_t process) const { return waits_[process]; }

private:
  static std::vector<WaitNode> add_nodes(WaitGraph& graph, std::size_t count);
  void add_waits(std::size_t process, bool gone_on);
  void wait_as_threads(std::size_t process, WaitNode node, ProcessWaits& waits);
  WaitNode outside_of_mpi(std::size_t process, const ThreadView& thread, ProcessWaits& waits);
  void help_waits_for_anybody();

  const JobPicture& picture_;
  Channels channels_;
  WaitGraph graph_;
  std::vector<WaitNode> nodes_;
  RequestWaits requests_;
  CallWaits calls_;
  std::vector<ProcessWaits> waits_;
  std::vector<std::pair<std::size_t, WaitNode>>
      for_anybody_; ///< a process, and the node that lets it go on
};

} // namespace mqbridge
