#include "host/analysis/call_waits_of_process.h"
#include "host/analysis/group_waits.h"
#include "host/analysis/job_picture.h"

#include <algorithm>
#include <fmt/format.h>

namespace mqbridge {

CallWaits::OfProcess::OfProcess(CallWaits& all, std::size_t process,
                                const std::vector<ThreadView>& threads)
    : all_(all), index_(process), process_(all.picture_.process(process)), threads_(threads) {
  whole_ = !all.picture_.filtered();
  for (const Seat& seat : process_.seats) {
    const auto& recorded = seat.communicator->recorded;
    counts_ = counts_ || (seat.communicator->counters && !recorded);
    records_all_ = records_all_ && recorded && recorded->whole;
    for (const OpClass op_class : {OpClass::send, OpClass::receive})
      take(seat, op_class);
  }
  shows_all_ =
      whole_ && counts_ && process_.now->mpi && process_.now->mpi->unlisted_requests == false;
}

void CallWaits::OfProcess::take(const Seat& seat, OpClass op_class) {
  const Queue& queue = seat.communicator->queue(op_class);
  whole_ = whole_ && is_whole(queue);
  for (const Operation& operation : queue.operations) {
    const OperationAt at{&seat, op_class, &operation};
    if (operation.waited) {
      groups_[operation.waited.group].push_back(at);
      if (operation.request)
        group_of_.emplace(operation.request->value, operation.waited.group);
    }
    if (!is_open(operation))
      continue;
    if (operation.collective == Collective::none)
      own_.push_back(at);
    else if (is_of_blocking_call(operation.collective))
      inside_.push_back(at);
  }
}

CallWait CallWaits::OfProcess::wait_of(const BlockedCall& call) {
  CallWait wait;
  wait.call = &call;
  take_waits(wait);
  const bool counted = std::ranges::any_of(process_.seats, [](const Seat& seat) {
    return seat.communicator->counters || seat.communicator->recorded;
  });
  // What ended its wait in the look before may be about to end this one. Counters tell better.
  if (!counted && !has_no_queue(*process_.now) && wait.node > WaitGraph::last_constant &&
      has_returned(process_, call))
    may_wait_for(wait, WaitGraph::doubtful);
  return wait;
}

void CallWaits::OfProcess::take_waits(CallWait& wait) {
  const BlockedCall& call = *wait.call;
  const CallKind kind = kind_of_call(*call.call);
  if (wait_by_arguments(wait, kind))
    return;
  switch (kind) {
  case CallKind::receive:
  case CallKind::probe:
  case CallKind::mprobe:
  case CallKind::send:
  case CallKind::exchange:
  case CallKind::wait_all:
  case CallKind::wait_any:
    call.group ? wait_as_recorded(wait, kind) : wait_for_requests(wait, kind);
    break;
  case CallKind::poll:
    wait_in_loop(wait);
    // These end with a message that no request is for.
    if (call.call == "MPI_Iprobe" || call.call == "MPI_Improbe")
      wait.node == WaitGraph::satisfied ? wait_for_anybody(wait) : may_wait_for_hidden(wait);
    break;
  case CallKind::collective:
    wait_inside(wait);
    break;
  case CallKind::construct:
  case CallKind::connect:
    wait_with_others(wait, kind);
    break;
  case CallKind::finalize:
    wait_for_all_to_leave(wait);
    break;
  case CallKind::unseen:
    // Calls of windows and files synchronize by collectives inside of them.
    if (!inside_.empty() && !is_multi_threaded(*process_.now, threads_)) {
      wait_for_all(wait, inside_);
      break;
    }
    if (wait_for_members_of_object(wait))
      break;
    [[fallthrough]];
  case CallKind::local:
    say_unknown(wait, fmt::format("what {} waits for", *call.call));
    break;
  }
}

CallWait CallWaits::OfProcess::wait_by_operations() {
  CallWait wait;
  if (!inside_.empty())
    wait_for_all(wait, inside_);
  else if (groups_.size() == 1)
    wait_for_group(wait, groups_.begin()->second, CallKind::unseen);
  else
    say_unknown(wait, "what it does: its stack does not tell");
  return wait;
}

CallWait CallWaits::OfProcess::wait_asleep(const BlockedCall& sleep, bool polls) {
  CallWait wait;
  wait.asleep = &sleep;
  if (!polls) {
    wait.node = WaitGraph::unknown;
    say_unknown(wait, "whether it polls between its sleeps");
    return wait;
  }
  if (!has_pending()) {
    wait_for_anybody(wait);
    return wait;
  }
  wait_in_loop(wait);
  all_.graph_.wait_for(wait.node, WaitGraph::idle);
  return wait;
}

void CallWaits::OfProcess::wait_for(CallWait& wait, const OperationAt& at) {
  wait.operations.push_back(at);
  all_.graph_.wait_for(wait.node, all_.requests_.node_of(index_, at));
}

void CallWaits::OfProcess::wait_for(CallWait& wait, const CollectiveUnderWay& collective) {
  wait.collectives.push_back(&collective);
  all_.graph_.wait_for(wait.node, collective.node);
}

void CallWaits::OfProcess::wait_for_all(CallWait& wait,
                                        const std::vector<OperationAt>& operations) {
  add(wait, WaitGraph::Mode::all);
  for (const OperationAt& at : operations)
    wait_for(wait, at);
}

void CallWaits::OfProcess::wait_for_one_of(CallWait& wait,
                                           const std::vector<OperationAt>& operations,
                                           std::span<const CollectiveUnderWay> collectives) {
  add(wait, WaitGraph::Mode::any);
  for (const OperationAt& at : operations)
    wait_for(wait, at);
  for (const CollectiveUnderWay& collective : collectives)
    wait_for(wait, collective);
  wait.guessed = true;
  all_.graph_.wait_for(wait.node, WaitGraph::guessed);
}

void CallWaits::OfProcess::wait_in_loop(CallWait& wait) {
  const auto& collectives = all_.requests_.under_way(index_);
  if (own_.empty() && collectives.empty()) {
    wait.node = WaitGraph::satisfied;
    if (!shows_all_ && !(whole_ && records_all_))
      wait_for_anybody(wait);
    return;
  }
  wait_for_one_of(wait, own_, collectives);
  if (!whole_)
    may_wait_for_hidden(wait);
}

void CallWaits::OfProcess::wait_for_anybody(CallWait& wait) {
  wait.node = WaitGraph::unknown;
  wait.by_anybody = true;
  say_unknown(wait, fmt::format("what {} waits for", words_of(wait)));
}

CallWaits::Absent CallWaits::wait_for(std::vector<Partner> members) {
  Absent absent;
  absent.node = graph_.add(WaitGraph::Mode::all);
  for (const Partner& member : members)
    graph_.wait_for(absent.node, requests_.node_of(member));
  absent.members = PartnerList(std::move(members));
  return absent;
}

std::vector<CallWait> CallWaits::of(std::size_t process, const std::vector<ThreadView>& threads) {
  OfProcess calls(*this, process, threads);
  std::vector<CallWait> waits;
  for (const ThreadView& thread : threads)
    if (thread.state == ThreadState::in_call)
      waits.push_back(calls.wait_of(*thread.call));
  const bool nothing_known = std::ranges::all_of(
      threads, [](const ThreadView& thread) { return thread.state == ThreadState::unknown; });
  if (nothing_known && threads.size() == 1)
    waits.push_back(calls.wait_by_operations());
  const LoopAsleep loop = sleep_between_calls(picture_.process(process), threads);
  if (loop.place != nullptr && (loop.polls || calls.has_pending()))
    waits.push_back(calls.wait_asleep(*loop.place, loop.polls));
  return waits;
}

} // namespace mqbridge
