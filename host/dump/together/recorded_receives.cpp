#include "host/dump/together/recorded_receives.h"

#include "host/mqs/queues.h"

#include <algorithm>
#include <limits>

namespace mqbridge {
namespace {

template <class Map, class Key>
auto count_in(const Map& map, const Key& key) {
  const auto at = map.find(key);
  return at == map.end() ? typename Map::mapped_type{0} : at->second;
}

bool is_matchable(const Operation& operation) {
  return was_pending(operation) && operation.kind != OpKind::message &&
         operation.peer.local_rank != proc_null;
}

/// The call has not returned, so its thread has posted nothing after it.
bool is_blocking(const Operation& operation) {
  return !operation.request;
}

} // namespace

void PatternCounts::add(const ReceivePattern& pattern) {
  if (!pattern.source && !pattern.tag) {
    ++all_;
  } else if (!pattern.source) {
    ++any_source_;
    ++by_tag_[*pattern.tag];
  } else if (!pattern.tag) {
    ++any_tag_;
    ++by_source_[*pattern.source];
  } else {
    ++exact_;
    ++exact_of_source_[*pattern.source];
    ++exact_of_tag_[*pattern.tag];
    ++exact_pairs_[{*pattern.source, *pattern.tag}];
  }
}

std::uint64_t PatternCounts::touching(const ReceivePattern& pattern) const {
  const std::uint64_t by_tag = pattern.tag ? count_in(by_tag_, *pattern.tag) : any_source_;
  const std::uint64_t by_source = pattern.source ? count_in(by_source_, *pattern.source) : any_tag_;
  std::uint64_t exact = exact_;
  if (pattern.source && pattern.tag)
    exact = count_in(exact_pairs_, std::pair(*pattern.source, *pattern.tag));
  else if (pattern.source)
    exact = count_in(exact_of_source_, *pattern.source);
  else if (pattern.tag)
    exact = count_in(exact_of_tag_, *pattern.tag);
  return all_ + by_tag + by_source + exact;
}

void MessagePool::add(const Pair& pair, std::uint32_t count) {
  if (count == 0)
    return;
  all_ += count;
  of_source_[pair.first] += count;
  of_tag_[pair.second] += count;
  counts_[pair] += count;
  by_tag_.emplace(pair.second, pair.first);
}

void MessagePool::take(const Pair& pair) {
  --all_;
  --of_source_[pair.first];
  --of_tag_[pair.second];
  const auto at = counts_.find(pair);
  if (--at->second != 0)
    return;
  counts_.erase(at);
  by_tag_.erase({pair.second, pair.first});
}

std::uint32_t MessagePool::of(const Pair& pair) const {
  return count_in(counts_, pair);
}

std::uint64_t MessagePool::matching(const ReceivePattern& pattern) const {
  if (pattern.source && pattern.tag)
    return of({*pattern.source, *pattern.tag});
  if (pattern.source)
    return count_in(of_source_, *pattern.source);
  return pattern.tag ? count_in(of_tag_, *pattern.tag) : all_;
}

std::vector<MessagePool::Pair> MessagePool::pairs(const ReceivePattern& pattern,
                                                  std::size_t most) const {
  constexpr auto lowest = std::numeric_limits<std::int64_t>::min();
  std::vector<Pair> found;
  if (pattern.source && pattern.tag) {
    if (const Pair pair{*pattern.source, *pattern.tag}; of(pair) > 0)
      found.push_back(pair);
  } else if (pattern.tag) {
    for (auto at = by_tag_.lower_bound({*pattern.tag, 0});
         at != by_tag_.end() && at->first == *pattern.tag && found.size() < most; ++at)
      found.emplace_back(at->second, at->first);
  } else {
    for (auto at = counts_.lower_bound({pattern.source.value_or(0), lowest});
         at != counts_.end() && (!pattern.source || at->first.first == *pattern.source) &&
         found.size() < most;
         ++at)
      found.push_back(at->first);
  }
  return found;
}

ReceiveMatching::ReceiveMatching(const RecordedSeats& seats, std::size_t receiver,
                                 const std::vector<RecordedTraffic>& traffic)
    : seats_(seats), seat_(seats[receiver]), traffic_(traffic),
      sees_all_(seats[receiver].counts() && seats.all_peers_count(seats[receiver])),
      lists_all_(is_whole(seat_.communicator->queue(OpClass::receive))),
      one_thread_(seat_.rank->mpi && seat_.rank->mpi->thread_level != ThreadLevel::unknown &&
                  seat_.rank->mpi->thread_level != ThreadLevel::multiple) {
  for (std::size_t source = 0; source < traffic.size(); ++source) {
    by_sender_.emplace(traffic[source].sender, source);
    sees_all_ = sees_all_ && traffic[source].counted && traffic[source].other_tags == 0;
    if (traffic[source].counted)
      for (const TagTraffic& tag : traffic[source].tags)
        pool_.add({source, tag.tag}, tag.outstanding);
  }
}

void ReceiveMatching::run() {
  auto& receives = seat_.communicator->queue(OpClass::receive).operations;
  for (const Operation& receive : receives)
    if (is_matchable(receive) && receive.kind != OpKind::probe)
      if (const auto pattern = pattern_of(receive))
        posted_.add(*pattern);
  for (Operation& receive : receives) {
    if (!is_matchable(receive))
      continue;
    // A document that knew both ends stays true, whatever other documents are joined to it.
    if (receive.status == OpStatus::matched && receive.actual) {
      keep(receive);
      continue;
    }
    receive.actual.reset();
    lists_all_ ? settle(receive) : settle_without_list(receive);
  }
}

void ReceiveMatching::keep(const Operation& receive) {
  if (!receive.actual->local_rank || !receive.actual->tag)
    return;
  const auto source = source_of(*receive.actual->local_rank);
  if (source && pool_.of({*source, *receive.actual->tag}) > 0)
    pool_.take({*source, *receive.actual->tag});
}

std::optional<std::size_t> ReceiveMatching::source_of(std::int64_t local_rank) const {
  const auto sender = seats_.peer(seat_, local_rank);
  const auto at = sender ? by_sender_.find(*sender) : by_sender_.end();
  return at == by_sender_.end() ? std::nullopt : std::optional(at->second);
}

std::optional<ReceivePattern> ReceiveMatching::pattern_of(const Operation& receive) const {
  ReceivePattern pattern;
  if (!receive.tag.any)
    pattern.tag = receive.tag.value;
  if (receive.peer.any)
    return pattern;
  if (receive.peer.local_rank)
    pattern.source = source_of(*receive.peer.local_rank);
  return pattern.source ? std::optional(pattern) : std::nullopt;
}

/// Whether it may have met a message that nothing shows.
bool ReceiveMatching::is_hidden(const Operation& receive,
                                const std::optional<ReceivePattern>& pattern) const {
  if (receive.peer.any || !receive.peer.local_rank)
    return !sees_all_;
  const auto sender = seats_.peer(seat_, *receive.peer.local_rank);
  if (!sender || !seats_[*sender].counts() || !seat_.counts())
    return true;
  return pattern && traffic_[*pattern->source].other_tags > 0;
}

/// Whether senders were stopped before they sent messages that have come: more may have come.
bool ReceiveMatching::has_gone_on(const std::optional<ReceivePattern>& pattern) const {
  const auto gone_on = [](const RecordedTraffic& traffic) { return traffic.beyond > 0; };
  if (!pattern)
    return false;
  return pattern->source ? gone_on(traffic_[*pattern->source])
                         : std::ranges::any_of(traffic_, gone_on);
}

/// Receives that are not shown may have met the messages.
void ReceiveMatching::settle_without_list(Operation& receive) {
  const auto pattern = pattern_of(receive);
  const bool none = !pattern || pool_.matching(*pattern) == 0;
  const bool known = none && !is_hidden(receive, pattern) && !has_gone_on(pattern);
  receive.status = known ? OpStatus::pending : OpStatus::unknown;
}

void ReceiveMatching::settle(Operation& receive) {
  const auto pattern = pattern_of(receive);
  const bool hidden = is_hidden(receive, pattern);
  const std::uint64_t there = pattern ? pool_.matching(*pattern) : 0;
  if (there == 0) {
    receive.status = hidden || has_gone_on(pattern) ? OpStatus::unknown : OpStatus::pending;
    return;
  }
  const std::uint64_t contested = contested_.touching(*pattern);
  if (receive.kind == OpKind::probe) { // it leaves the message where it is
    receive.status = there > contested ? OpStatus::pending : OpStatus::unknown;
    return;
  }
  const bool of_anybody_else = hidden || (!pattern->source && has_gone_on(pattern));
  if (there <= contested) {
    receive.status = OpStatus::unknown;
    contested_.add(*pattern);
    return;
  }
  receive.status = OpStatus::matched;
  const auto pair = of_anybody_else ? std::nullopt : met(receive, *pattern, contested > 0);
  if (!pair) {
    contested_.add(*pattern);
    return;
  }
  ActualMessage actual;
  const RecordedSeat& sender = seats_[traffic_[pair->first].sender];
  actual.local_rank = sender.communicator->local_rank;
  actual.global_rank = sender.rank->world_rank;
  actual.tag = pair->second;
  if (contested == 0)
    actual.length = length_of(receive, *pair);
  receive.actual = actual;
  pool_.take(*pair);
}

/// The sender and the tag of its message. nullopt: not known.
std::optional<MessagePool::Pair> ReceiveMatching::met(const Operation& receive,
                                                      const ReceivePattern& pattern,
                                                      bool contested) const {
  constexpr std::size_t most = 64;
  const auto pairs = pool_.pairs(pattern, most);
  if (pairs.size() == 1)
    return pairs.front();
  if (!pattern.source || contested || pairs.size() == most)
    return std::nullopt;
  std::optional<MessagePool::Pair> first;
  std::uint32_t age = 0;
  for (const auto& pair : pairs) {
    const auto send = oldest(receive, pair);
    if (!send)
      return std::nullopt;
    if (!first || send->age > age)
      first = pair;
    age = std::max(age, send->age);
  }
  return first;
}

/// The message that the first receive of this sender and tag meets. The program may complete its
/// receives in another order than it posted them: then any earlier message may be the one.
std::optional<RecordedSend> ReceiveMatching::oldest(const Operation& receive,
                                                    const MessagePool::Pair& pair) const {
  const RecordedTraffic& traffic = traffic_[pair.first];
  const TagTraffic& tag = *traffic.with_tag(pair.second);
  const bool only = posted_.touching({pair.first, pair.second}) == 1;
  const bool in_order =
      tag.outstanding == tag.sent || (only && one_thread_ && is_blocking(receive));
  const auto sends = traffic.sends_with(pair.second);
  const std::uint32_t place = pool_.of(pair) - 1;
  if (!in_order || place >= sends.size())
    return std::nullopt;
  const SendPlace found = place_of(traffic, tag, place);
  return found.last == place ? std::optional(sends[place]) : std::nullopt;
}

MaybeInt ReceiveMatching::length_of(const Operation& receive, const MessagePool::Pair& pair) const {
  if (const auto send = oldest(receive, pair))
    return send->operation->length.value;
  const RecordedTraffic& traffic = traffic_[pair.first];
  const auto sends = traffic.sends_with(pair.second);
  const bool all_known = sends.size() == traffic.with_tag(pair.second)->sent;
  const auto other = [&](const RecordedSend& send) {
    return send.operation->length.value != sends.front().operation->length.value;
  };
  return all_known && std::ranges::none_of(sends, other) ? sends.front().operation->length.value
                                                         : MaybeInt();
}

ReceiveMatching::Unmet ReceiveMatching::unmet(std::size_t source, const TagTraffic& tag) const {
  const std::uint32_t most = pool_.of({source, tag.tag});
  const std::uint64_t contested = contested_.touching({source, tag.tag});
  if (!lists_all_ || !seat_.counts())
    return {0, most};
  return {contested >= most ? 0 : most - static_cast<std::uint32_t>(contested), most};
}

} // namespace mqbridge
