#pragma once

#include "host/dump/together/job_view.h"
#include "host/dump/values/document.h"
#include "host/launch/node.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mqbridge {

/// Merges ranks that came as documents from several nodes into the ranks of one dump.
class JobMerge {
public:
  /// Adds a rank of `node`, whose collector calls that computer `host`. Returns it, until the next
  /// call, with the endpoint and the host by which it is reached from here.
  const RankDump& add(const Node& node, const std::string& host, RankDump rank);

  /// The ranks in order, with keys, as settle_job() does. If two nodes claim the same rank of a
  /// job, that is an error of the document: nobody can tell which of them is right. The time
  /// between the stops is not known, since each node has a clock of its own.
  Dump finish();

private:
  using JobAndRank = std::pair<std::string, int>;

  Dump dump_;
  std::vector<RankClaim> claims_;
  std::map<JobAndRank, std::size_t> known_; ///< index of the first of them
};

/// Errors of nodes, for the document: equal errors of several nodes become one that names them all.
class NodeFaults {
public:
  /// `error.message` does not contain the node's name, so that messages can be equal.
  void add(const std::string& node, RankError error);

  /// In the order in which the first of each came.
  std::vector<RankError> errors() const;

private:
  struct Fault {
    RankError error;
    std::vector<std::string> nodes;
  };
  std::vector<Fault> faults_;
};

} // namespace mqbridge
