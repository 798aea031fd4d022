#include "host/analysis/compare.h"

#include "host/analysis/join.h"
#include "host/analysis/message_index.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace mqbridge {
namespace {

using JobAndRank = std::pair<std::string, int>; ///< job_id, rank
using RanksByKey = std::map<JobAndRank, const RankDump*>;
using Counts = std::pair<std::uint64_t, std::uint64_t>; ///< before, after

RanksByKey ranks_of(const Dump& dump) {
  RanksByKey ranks;
  for (const RankDump& rank : dump.ranks)
    if (rank.rank)
      ranks.emplace(JobAndRank(rank.job_id.value_or(""), *rank.rank), &rank);
  return ranks;
}

std::optional<std::int64_t> known(const MaybeInt& value) {
  return value;
}

std::string label_of(const Communicator& communicator) {
  return communicator.key.empty() ? communicator.name : communicator.key;
}

/// One process that both documents have.
class Comparison {
public:
  Comparison(const RankDump& before, const RankDump& after) : before_(before), after_(after) {}

  void add_to(RankChanges& changes) {
    compare_calls(changes);
    for (const Communicator& communicator : after_.communicators)
      labels_[identity_of(communicator)] = label_of(communicator);
    for (const Communicator& communicator : before_.communicators)
      if (labels_.try_emplace(identity_of(communicator), communicator.name).second == false)
        compare_counters(communicator, changes);
    for (const OpClass op_class : op_classes)
      compare_queues(op_class, changes);
    const bool messages = changes.channels && !changes.channels->empty();
    const bool moved =
        changes.calls_moved || messages || !changes.appeared.empty() || !changes.gone.empty();
    changes.change = moved ? RankChange::moved : RankChange::same;
  }

private:
  /// Identifies a communicator: its address alone may belong to another one by now.
  using Identity = std::tuple<std::uint64_t, std::optional<std::uint64_t>>;

  static Identity identity_of(const Communicator& communicator) {
    return {communicator.id.value, communicator.context};
  }

  static auto call_key(const BlockedCall& call) {
    return std::tuple(call.thread, call.call, call.function, call.file, call.line, call.request);
  }

  void compare_calls(RankChanges& changes) const {
    changes.calls_before = before_.blocked_in;
    changes.calls_after = after_.blocked_in;
    if (!before_.blocked_in || !after_.blocked_in)
      return;
    const auto keys = [](const std::vector<BlockedCall>& calls) {
      std::multiset<decltype(call_key(calls.front()))> all;
      for (const BlockedCall& call : calls)
        all.insert(call_key(call));
      return all;
    };
    changes.calls_moved = keys(*before_.blocked_in) != keys(*after_.blocked_in);
  }

  // Messages.

  void compare_counters(const Communicator& before, RankChanges& changes) const {
    const auto after = std::ranges::find(after_.communicators, identity_of(before), identity_of);
    if (!before.counters || !after->counters || before.counters->modulus <= 0)
      return;
    if (!changes.channels)
      changes.channels.emplace();
    std::map<std::int64_t, const PeerCounters*> then;
    for (const PeerCounters& peer : before.counters->peers)
      then.emplace(peer.peer, &peer);
    for (const PeerCounters& now : after->counters->peers) {
      const auto found = then.find(now.peer);
      const PeerCounters none{now.peer, 0, 0};
      const PeerCounters& was = found == then.end() ? none : *found->second;
      const auto modulus = before.counters->modulus;
      const ChannelChange channel{label_of(*after), now.peer, since(was.sent, now.sent, modulus),
                                  since(was.arrived, now.arrived, modulus)};
      if (channel.sent.value_or(0) != 0 || channel.arrived.value_or(0) != 0)
        changes.channels->push_back(channel);
    }
  }

  static std::optional<std::int64_t> since(const MaybeInt& was, const MaybeInt& now,
                                           std::int64_t modulus) {
    const auto from = known(was);
    const auto to = known(now);
    if (!from || !to)
      return std::nullopt;
    const auto difference = (*to % modulus - *from % modulus) % modulus;
    return difference < 0 ? difference + modulus : difference;
  }

  // Operations.

  /// Identifies an operation as exactly as it can be known.
  using Very =
      std::tuple<OperationKind, std::optional<std::uint64_t>, std::optional<std::uint32_t>>;

  Very very(const Operation& operation, OpClass op_class, const std::string& label) const {
    const std::optional<TargetAddress> request = operation.request;
    const OperationKind kind{.queue = op_class,
                             .communicator = label,
                             .any_peer = operation.peer.any,
                             .peer = operation.peer.global_rank,
                             .any_tag = operation.tag.any,
                             .tag = operation.tag.value,
                             .length = operation.length.value,
                             .collective = operation.collective};
    return {kind, request ? std::optional(request->value) : std::nullopt, operation.sequence};
  }

  static bool all_whole(const RankDump& rank, OpClass op_class) {
    return std::ranges::all_of(rank.communicators, [&](const Communicator& communicator) {
      return is_whole(communicator.queue(op_class));
    });
  }

  void count(const RankDump& rank, OpClass op_class, std::uint64_t Counts::*side,
             std::map<Very, Counts>& counts) const {
    for (const Communicator& communicator : rank.communicators)
      for (const Operation& operation : communicator.queue(op_class).operations)
        ++(counts[very(operation, op_class, labels_.at(identity_of(communicator)))].*side);
  }

  void compare_queues(OpClass op_class, RankChanges& changes) const {
    std::map<Very, Counts> counts;
    count(before_, op_class, &Counts::first, counts);
    count(after_, op_class, &Counts::second, counts);
    const bool whole_before = all_whole(before_, op_class);
    const bool whole_after = all_whole(after_, op_class);
    if (!whole_before || !whole_after)
      changes.unsure.push_back(op_class);
    std::map<OperationKind, Counts> gone_and_new;
    for (const auto& [operation, times] : counts) {
      const auto [before, after] = times;
      changes.stayed += std::min(before, after);
      auto& [gone, appeared] = gone_and_new[std::get<OperationKind>(operation)];
      gone += whole_after ? before - std::min(before, after) : 0;
      appeared += whole_before ? after - std::min(before, after) : 0;
    }
    for (const auto& [kind, times] : gone_and_new) {
      if (times.first > 0)
        changes.gone.push_back({kind, times.first});
      if (times.second > 0)
        changes.appeared.push_back({kind, times.second});
    }
  }

  const RankDump& before_;
  const RankDump& after_;
  std::map<Identity, std::string> labels_;
};

RankChanges changes_of(const JobAndRank& key, const RankDump* before, const RankDump* after) {
  RankChanges changes;
  changes.rank = key.second;
  changes.job_id = (after != nullptr ? after : before)->job_id;
  if (before == nullptr || after == nullptr)
    changes.change = before == nullptr ? RankChange::appeared : RankChange::gone;
  else if (are_different_processes(*before, *after))
    changes.change = RankChange::other_process;
  else if (before->status != RankStatus::failed && after->status != RankStatus::failed)
    Comparison(*before, *after).add_to(changes);
  if (before == nullptr && after != nullptr)
    changes.calls_after = after->blocked_in;
  if (after == nullptr && before != nullptr)
    changes.calls_before = before->blocked_in;
  return changes;
}

} // namespace

Changes compare(const Dump& before, const Dump& after) {
  Changes changes{before.taken_at, after.taken_at, {}};
  const RanksByKey then = ranks_of(before);
  const RanksByKey now = ranks_of(after);
  std::set<JobAndRank> keys;
  for (const RanksByKey& ranks : {then, now})
    for (const auto& [key, rank] : ranks)
      keys.insert(key);
  const auto find = [](const RanksByKey& ranks, const JobAndRank& key) {
    const auto found = ranks.find(key);
    return found == ranks.end() ? nullptr : found->second;
  };
  for (const JobAndRank& key : keys)
    changes.ranks.push_back(changes_of(key, find(then, key), find(now, key)));
  return changes;
}

} // namespace mqbridge
