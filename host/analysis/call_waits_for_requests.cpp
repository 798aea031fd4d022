#include "host/analysis/call_waits_of_process.h"
#include "host/analysis/group_waits.h"
#include "host/analysis/job_picture.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <set>

namespace mqbridge {

std::vector<std::uint32_t> CallWaits::OfProcess::groups_of(const BlockedCall& call,
                                                           CallKind kind) const {
  if (const auto own = call.request ? group_of_.find(call.request->value) : group_of_.end();
      own != group_of_.end())
    return {own->second};
  std::set<std::uint32_t> claimed;
  for (const ThreadView& thread : threads_)
    if (thread.call != nullptr && thread.call->request)
      if (const auto its = group_of_.find(thread.call->request->value); its != group_of_.end())
        claimed.insert(its->second);
  std::vector<std::uint32_t> others;
  const bool any = kind == CallKind::wait_all || kind == CallKind::wait_any;
  for (const auto& [number, operations] : groups_)
    if (!claimed.contains(number) && (any || is_of_one(operations)))
      others.push_back(number);
  return others;
}

void CallWaits::OfProcess::wait_as_recorded(CallWait& wait, CallKind kind) {
  WaitGroup group;
  if (const auto its = groups_.find(*wait.call->group); its != groups_.end())
    group.operations = its->second;
  const Waited* waited =
      group.operations.empty() ? nullptr : &group.operations.front().operation->waited;
  for (const CollectiveUnderWay& each : all_.requests_.under_way(index_))
    if (each.recorded != nullptr && each.recorded->waited.group == *wait.call->group) {
      group.collectives.push_back(&each);
      waited = &each.recorded->waited;
    }
  if (*wait.call->group == 0 || waited == nullptr)
    return say_unknown(wait, fmt::format("what {} waits for", *wait.call->call));
  group.all = kind != CallKind::wait_any;
  const std::size_t shown = group.operations.size() + group.collectives.size();
  const bool fewer = !group.all || waited->count > shown; // an unknown count is large
  group.more = waited->unseen || !records_all_ || (!whole_ && fewer);
  group.still = stands_still(process_, *wait.call);
  group.once = process_.before == nullptr;
  wait_for_recorded(wait, group, index_, all_.requests_, all_.graph_);
}

void CallWaits::OfProcess::wait_for_requests(CallWait& wait, CallKind kind) {
  choose_requests(wait, kind);
  const bool found = wait.operations.size() == 1 && names_request(*wait.call, kind) &&
                     wait.operations.front().operation->request == wait.call->request;
  // What the MPI marks as waited for comes with its number; anything else is a choice among what is
  // shown.
  const bool chosen =
      !found && !wait.operations.empty() && !wait.operations.front().operation->waited;
  if (!whole_ && (chosen || (!found && wait.mode == WaitGraph::Mode::any)))
    may_wait_for_hidden(wait);
  if (!whole_ && kind == CallKind::exchange)
    also_waits_for_hidden(wait);
}

void CallWaits::OfProcess::also_waits_for_hidden(CallWait& wait) {
  wait.node = all_.graph_.both(wait.node, WaitGraph::unknown);
  say_unknown(wait, fmt::format("all that {} waits for", words_of(wait)));
}

void CallWaits::OfProcess::may_wait_for_hidden(CallWait& wait) {
  if (wait.node == WaitGraph::unknown || wait.node == WaitGraph::satisfied)
    return;
  wait.node = all_.graph_.either(wait.node, WaitGraph::unknown);
  say_unknown(wait, fmt::format("all that {} waits for", words_of(wait)));
}

void CallWaits::OfProcess::choose_requests(CallWait& wait, CallKind kind) {
  if (kind == CallKind::exchange && wait.call->request && wait.call->request_unique != true)
    for (const OperationAt& at : own_)
      if (at.operation->request == wait.call->request)
        return wait_for_send_first(wait, at);
  const auto groups = groups_of(*wait.call, kind);
  if (groups.size() == 1)
    return wait_for_group(wait, groups_.at(groups.front()), kind);
  std::vector<OperationAt> candidates;
  if (!groups.empty()) {
    for (const std::uint32_t number : groups)
      std::ranges::copy(groups_.at(number), std::back_inserter(candidates));
    return wait_for_one_of(wait, candidates, {});
  }
  for (const OperationAt& at : own_) {
    if (names_request(*wait.call, kind) && at.operation->request == wait.call->request)
      return wait_for_known(wait, kind, at);
    const bool elsewhere =
        wait.call->communicator && at.seat->communicator->id != *wait.call->communicator;
    if (fits(kind, at.op_class, at.operation->kind) && !elsewhere && !at.operation->waited &&
        !would_be_marked(*wait.call, kind))
      candidates.push_back(at);
  }
  // The awaited request is complete, or it is not among the operations shown.
  if (names_request(*wait.call, kind))
    return wait_for_nothing_seen(wait, true);
  wait_for_candidates(wait, kind, candidates);
}

bool CallWaits::OfProcess::would_be_marked(const BlockedCall& call, CallKind kind) const {
  const bool waits = kind == CallKind::wait_all || kind == CallKind::wait_any;
  return waits && counts_ &&
         (call.call != "MPI_Wait" || is_multi_threaded(*process_.now, threads_));
}

void CallWaits::OfProcess::wait_for_candidates(CallWait& wait, CallKind kind,
                                               const std::vector<OperationAt>& candidates) {
  const bool waits_for_request = kind == CallKind::wait_all || kind == CallKind::wait_any;
  const std::span collectives = all_.requests_.under_way(index_);
  const std::size_t others = waits_for_request ? collectives.size() : 0;
  if (candidates.empty() && others == 0)
    return wait_for_nothing_seen(wait, !waits_for_request);
  const bool several = candidates.size() + others > 1;
  if (several && kind != CallKind::exchange)
    return wait_for_one_of(wait, candidates, collectives.first(others));
  if (several)
    wait_for_own_of(wait, candidates);
  else
    wait_for_all(wait, candidates);
  if (others > 0)
    wait_for(wait, collectives.front());
  const bool still = stands_still(process_, *wait.call);
  if (still && (waits_for_request ? shows_all_ : whole_ && counts_))
    return; // whatever it waits for is pending and shown, and this is all that there is
  // MPI_Wait may be for a request that no list shows, or about to return. Another call may be
  // about to post its own request, or about to return.
  const bool sure = still && !several && (!waits_for_request || candidates.empty());
  may_wait_for(wait, sure ? WaitGraph::unproven : WaitGraph::guessed);
}

void CallWaits::OfProcess::wait_for_known(CallWait& wait, CallKind kind, const OperationAt& at) {
  wait_for_all(wait, {at});
  const bool only = shows_all_ && own_.size() == 1 && all_.requests_.under_way(index_).empty();
  const bool left_over = kind == CallKind::wait_all || kind == CallKind::wait_any;
  if (left_over && !only && wait.call->request_unique != true)
    may_wait_for(wait, WaitGraph::unproven);
}

void CallWaits::OfProcess::wait_for_send_first(CallWait& wait, const OperationAt& send) {
  wait_for_all(wait, {send});
  std::vector<OperationAt> receives;
  std::ranges::copy_if(own_, std::back_inserter(receives), [&](const OperationAt& at) {
    return at.op_class == OpClass::receive && at.seat == send.seat && !at.operation->waited &&
           fits(CallKind::exchange, at.op_class, at.operation->kind);
  });
  if (receives.empty())
    return;
  if (receives.size() == 1 && wait.call->request_unique == false)
    return wait_for(wait, receives.front());
  all_.graph_.wait_for(wait.node, all_or_unknown(receives));
  wait.guessed = true;
}

void CallWaits::OfProcess::wait_for_own_of(CallWait& wait,
                                           const std::vector<OperationAt>& candidates) {
  add(wait, WaitGraph::Mode::any);
  for (const OperationAt& at : candidates)
    wait_for(wait, at);
  wait.node = all_.graph_.both(wait.node, all_or_unknown(candidates));
  wait.guessed = true;
}

WaitNode CallWaits::OfProcess::all_or_unknown(const std::vector<OperationAt>& operations) {
  const WaitNode all = all_.graph_.add(WaitGraph::Mode::all);
  for (const OperationAt& at : operations)
    all_.graph_.wait_for(all, all_.requests_.node_of(index_, at));
  return all_.graph_.either(all, WaitGraph::unknown);
}

void CallWaits::OfProcess::may_wait_for(CallWait& wait, WaitNode other) {
  wait.node = all_.graph_.either(wait.node, other);
  wait.guessed = wait.guessed || other == WaitGraph::guessed;
}

void CallWaits::OfProcess::wait_for_nothing_seen(CallWait& wait, bool passes) {
  if (!passes || !whole_ || !counts_)
    return say_unknown(wait, fmt::format("what {} waits for", *wait.call->call));
  wait.node = WaitGraph::satisfied;
}

void CallWaits::OfProcess::wait_for_group(CallWait& wait,
                                          const std::vector<OperationAt>& operations,
                                          CallKind kind) {
  const Waited& waited = operations.front().operation->waited;
  const std::size_t count =
      waited.count == Waited::unknown_count ? operations.size() : std::size_t{waited.count};
  const bool any =
      kind == CallKind::wait_any || (kind == CallKind::unseen && waited.mode == WaitMode::any);
  const bool all = !any && (kind != CallKind::unseen || waited.mode == WaitMode::all);
  const bool more = all ? count > operations.size() : waited.unseen;
  add(wait, all ? WaitGraph::Mode::all : WaitGraph::Mode::any);
  for (const OperationAt& at : operations)
    wait_for(wait, at);
  if (more)
    wait_for_unseen(wait, all ? count - operations.size() : 1);
  else if (!all && !shows_all_)
    all_.graph_.wait_for(wait.node, WaitGraph::unproven);
  if (!all && !any && operations.size() > 1) {
    wait.guessed = true;
    all_.graph_.wait_for(wait.node, WaitGraph::guessed);
  }
}

void CallWaits::OfProcess::wait_for_unseen(CallWait& wait, std::size_t count) {
  const auto& collectives = all_.requests_.under_way(index_);
  if (collectives.empty()) {
    all_.graph_.wait_for(wait.node, WaitGraph::unknown);
    return say_unknown(wait, fmt::format("{} more of what {} waits for", count,
                                         wait.call != nullptr ? *wait.call->call : "a call"));
  }
  const bool all = wait.mode == WaitGraph::Mode::all && collectives.size() == count;
  const WaitNode together = all_.graph_.add(all ? WaitGraph::Mode::all : WaitGraph::Mode::any);
  for (const CollectiveUnderWay& collective : collectives) {
    wait.collectives.push_back(&collective);
    all_.graph_.wait_for(together, collective.node);
  }
  all_.graph_.wait_for(wait.node, all_.graph_.either(together, WaitGraph::guessed));
  wait.guessed = true;
}

} // namespace mqbridge
