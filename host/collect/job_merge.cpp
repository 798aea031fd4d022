#include "host/collect/job_merge.h"

#include "host/dump/together/recorded_messages.h"
#include "host/launch/node_names.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>

namespace mqbridge {
namespace {

/// The collector's claim about the rank's job and number, made before it knew of other nodes'
/// ranks.
RankClaim claim_of(const RankDump& rank, const std::string& host) {
  RankClaim claim;
  claim.name_space = rank.job_id;
  if (rank.rank_source != RankSource::comm_world) {
    claim.given = rank.rank;
    claim.given_by = rank.rank_source;
  }
  if (rank.pid)
    claim.identity = fmt::format("{}:{}", host, *rank.pid);
  return claim;
}

} // namespace

const RankDump& JobMerge::add(const Node& node, const std::string& host, RankDump rank) {
  claims_.push_back(claim_of(rank, host));
  if (rank.pid)
    rank.endpoint = node.target(*rank.pid);
  rank.host = node.name();
  for (auto& communicator : rank.communicators)
    communicator.key.clear(); // of that node's document
  if (rank.job_id && rank.rank) {
    const auto [first, added] =
        known_.emplace(JobAndRank(*rank.job_id, *rank.rank), dump_.ranks.size());
    const auto& other = added ? rank : dump_.ranks[first->second];
    if (!added && claims_.back().identity != claims_[first->second].identity)
      dump_.errors.push_back({"collector.rank_twice", RankError::Level::error,
                              fmt::format("{} and {} both say that they are rank {} of job {}",
                                          other.endpoint, rank.endpoint, *rank.rank, *rank.job_id),
                              "dump each of them by itself"});
  }
  dump_.ranks.push_back(std::move(rank));
  return dump_.ranks.back();
}

Dump JobMerge::finish() {
  settle_job(dump_, std::move(claims_));
  settle_recorded_messages(dump_.ranks);
  return std::move(dump_);
}

void NodeFaults::add(const std::string& node, RankError error) {
  const auto alike = std::ranges::find_if(faults_, [&](const Fault& fault) {
    return fault.error.code == error.code && fault.error.level == error.level &&
           fault.error.message == error.message && fault.error.hint == error.hint;
  });
  if (alike != faults_.end())
    alike->nodes.push_back(node);
  else
    faults_.push_back({std::move(error), {node}});
}

std::vector<RankError> NodeFaults::errors() const {
  std::vector<RankError> errors;
  for (const auto& [error, nodes] : faults_) {
    errors.push_back(error);
    errors.back().message = fmt::format("{}: {}", node_list_text(nodes), error.message);
  }
  return errors;
}

} // namespace mqbridge
