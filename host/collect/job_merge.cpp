#include "host/collect/job_merge.h"

#include "host/dump/recorded_messages.h"

#include <fmt/format.h>
#include <optional>

namespace mqbridge {
namespace {

/// What the collector said of the rank's place, before it knew of the other nodes' ranks.
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

} // namespace mqbridge
