#include "host/analysis/call_waits_of_process.h"
#include "host/analysis/group_waits.h"
#include "host/analysis/job_picture.h"

#include <algorithm>
#include <fmt/format.h>

namespace mqbridge {

void CallWaits::OfProcess::wait_inside(CallWait& wait) {
  std::vector<OperationAt> inside;
  for (const OperationAt& at : inside_)
    if (!wait.call->communicator || at.seat->communicator->id == *wait.call->communicator)
      inside.push_back(at);
  if (!inside_.empty() && several_threads_in_collectives()) {
    wait_for_one_of(wait, inside_, {});
    if (!whole_)
      may_wait_for_hidden(wait);
    return;
  }
  if (!inside_.empty()) {
    wait_for_all(wait, inside.empty() ? inside_ : inside);
    if (!whole_)
      also_waits_for_hidden(wait);
    return;
  }
  if (wait_for_members(wait))
    return;
  wait_in_collective_without_operations(wait);
}

bool CallWaits::OfProcess::several_threads_in_collectives() const {
  return std::ranges::count_if(threads_, [](const ThreadView& thread) {
           const CallKind kind = thread.call != nullptr && thread.call->call
                                     ? kind_of_call(*thread.call->call)
                                     : CallKind::local;
           return kind == CallKind::collective || kind == CallKind::construct;
         }) > 1;
}

bool CallWaits::OfProcess::wait_for_members(CallWait& wait) {
  const auto collective = entered_by(all_.picture_, index_, *wait.call);
  const auto members =
      collective ? all_.requests_.collectives().wait_of(*collective) : std::nullopt;
  if (!members)
    return false;
  take_absent(wait, {members->needed, members->members});
  const bool still = stands_still(process_, *wait.call) && !members->fresh;
  if (members->has_others()) {
    wait_for_others(wait, *members, still);
  } else if (members->needed == WaitGraph::satisfied) {
    if (still || wait.call->call == "MPI_Intercomm_create") { // with another group
      wait.node = WaitGraph::unknown;
      say_unknown(wait, fmt::format("what goes on inside of {}", *wait.call->call));
    }
  }
  if (members->needed == WaitGraph::satisfied)
    wait.guessed = !still && members->left && process_.before == nullptr;
  return true;
}

bool CallWaits::OfProcess::wait_for_members_of_object(CallWait& wait) {
  const BlockedCall& call = *wait.call;
  const RankDump* before = process_.before;
  if (call.call->starts_with("MPI_File_") &&
      (may_use_file(*process_.now, call) || (before != nullptr && may_use_file(*before, call))))
    return false;
  if (!wait_for_members(wait))
    return false;
  if (wait.members.size() > 0)
    may_wait_for(wait, WaitGraph::unproven);
  return true;
}

void CallWaits::OfProcess::wait_for_others(CallWait& wait, const CollectiveWait& members,
                                           bool still) {
  const WaitNode perhaps = all_.graph_.either(members.all_others, WaitGraph::guessed);
  wait.node = all_.graph_.both(members.needed, perhaps);
  if (members.needed != WaitGraph::satisfied)
    return;
  wait.mode = WaitGraph::Mode::any;
  if (still)
    all_.graph_.wait_for(wait.node, members.any_other);
}

void CallWaits::OfProcess::wait_in_collective_without_operations(CallWait& wait) {
  if (!counts_ || !whole_ || stands_still(process_, *wait.call))
    return say_unknown(wait, fmt::format("what {} waits for", *wait.call->call));
  wait.node = WaitGraph::satisfied;
  wait.guessed = process_.before == nullptr;
}

void CallWaits::OfProcess::wait_with_others(CallWait& wait, CallKind kind) {
  const auto& collectives = all_.requests_.under_way(index_);
  if (!inside_.empty())
    return wait_inside(wait);
  if (wait_for_members(wait))
    return;
  if (wait.call->group) // other collectives of a recorded process do not matter for this call
    return say_unknown(wait, fmt::format("what {} waits for", *wait.call->call));
  if (callback_in(*process_.now, *wait.call) != Callback::none) // of an attribute, for example
    return say_unknown(wait, fmt::format("what the program does inside of {}", *wait.call->call));
  if (collectives.size() > 1)
    return wait_for_one_of(wait, {}, collectives);
  if (collectives.size() == 1) {
    add(wait, WaitGraph::Mode::all);
    wait_for(wait, collectives.front());
    const bool still = stands_still(process_, *wait.call); // else it may be about to return
    if (still && whole_ && counts_ && waits_for_messages(*wait.call->call))
      return; // this is all that there is
    return may_wait_for(wait, still ? WaitGraph::unproven : WaitGraph::guessed);
  }
  if (wait.call->request && wait.call->request_unique == true)
    for (const OperationAt& at : own_) // MPI_Comm_create_group, by a tag that the program gave
      if (at.operation->request == wait.call->request)
        return wait_for_all(wait, {at});
  if (kind == CallKind::connect)
    return say_unknown(wait, fmt::format("what {} waits for", *wait.call->call));
  wait_in_collective_without_operations(wait);
}

bool CallWaits::OfProcess::waits_for_messages(std::string_view call) {
  return kind_of_call(call) == CallKind::construct &&
         dependence_of(call) == CollectiveKind::everybody && !call.starts_with("MPI_Win_");
}

void CallWaits::OfProcess::wait_for_all_to_leave(CallWait& wait) {
  const Callback callback = callback_in(*process_.now, *wait.call);
  if (callback == Callback::runs)
    wait.node = WaitGraph::satisfied;
  else if (callback == Callback::calls_others)
    say_unknown(wait, "what the program does inside of MPI_Finalize");
  if (callback != Callback::none)
    return;
  const auto [known, is_new] = all_.leaving_.try_emplace(process_.job);
  if (is_new) {
    auto members = finalize_partners(all_.picture_, process_.job);
    std::erase_if(members, [&](const Partner& member) {
      return member.process && all_.requests_.does_no_more(*member.process);
    });
    known->second = all_.wait_for(std::move(members));
  }
  take_absent(wait, known->second);
  wait.guessed = wait.members.size() == 0 && stands_still(process_, *wait.call);
}

} // namespace mqbridge
