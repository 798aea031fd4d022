#pragma once

#include "host/dump/document.h"
#include "host/dump/job_view.h"
#include "host/launch/node.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mqbridge {

/// Ranks that came as documents from several nodes, put together as one dump's.
class JobMerge {
public:
  /// A rank of `node`, whose collector calls that computer `host`. Returns it with the endpoint and
  /// the host by which it is reached from here, until the next call.
  const RankDump& add(const Node& node, const std::string& host, RankDump rank);

  /// The ranks in order, keys set, as settle_job() does. Two nodes that claim the same rank of a
  /// job are an error of the document: nobody can say which of them is right. How far the stops
  /// were apart is not known, since each node has a clock of its own.
  Dump finish();

private:
  using JobAndRank = std::pair<std::string, int>;

  Dump dump_;
  std::vector<RankClaim> claims_;
  std::map<JobAndRank, std::size_t> known_; ///< by index: the first of them
};

} // namespace mqbridge
