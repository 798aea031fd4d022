#include "host/analysis/call_waits.h"

#include "host/analysis/group_waits.h"
#include "host/analysis/job_picture.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace mqbridge {
/// Works out the waits of one process.
class CallWaits::OfProcess {
public:
  OfProcess(CallWaits& all, std::size_t process, const std::vector<ThreadView>& threads)
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

  CallWait wait_of(const BlockedCall& call) {
    CallWait wait;
    wait.call = &call;
    const CallKind kind = kind_of_call(*call.call);
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
    return wait;
  }

  /// Nothing tells which call the process is in.
  CallWait wait_by_operations() {
    CallWait wait;
    if (!inside_.empty())
      wait_for_all(wait, inside_);
    else if (groups_.size() == 1)
      wait_for_group(wait, groups_.begin()->second, CallKind::unseen);
    else
      say_unknown(wait, "what it does: its stack does not tell");
    return wait;
  }

  /// Whether a loop could poll for something.
  bool has_pending() const { return !own_.empty() || !all_.requests_.under_way(index_).empty(); }

  /// A thread sleeps in a loop, and calls MPI in between: like a loop around MPI_Test or
  /// MPI_Iprobe. But the loop may end by something else than MPI, and the thread may send then.
  CallWait wait_asleep(const BlockedCall& sleep, bool polls) {
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

private:
  void take(const Seat& seat, OpClass op_class) {
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

  WaitNode add(CallWait& wait, WaitGraph::Mode mode) {
    wait.mode = mode;
    wait.node = all_.graph_.add(mode);
    return wait.node;
  }

  void wait_for(CallWait& wait, const OperationAt& at) {
    wait.operations.push_back(at);
    all_.graph_.wait_for(wait.node, all_.requests_.node_of(index_, at));
  }

  void wait_for(CallWait& wait, const CollectiveUnderWay& collective) {
    wait.collectives.push_back(&collective);
    all_.graph_.wait_for(wait.node, collective.node);
  }

  void wait_for_all(CallWait& wait, const std::vector<OperationAt>& operations) {
    add(wait, WaitGraph::Mode::all);
    for (const OperationAt& at : operations)
      wait_for(wait, at);
  }

  static void say_unknown(CallWait& wait, std::string why) {
    wait.unseen = true;
    wait.unknown = std::move(why);
  }

  /// The call waits for one of all these, and nobody knows for which one.
  void wait_for_one_of(CallWait& wait, const std::vector<OperationAt>& operations,
                       std::span<const CollectiveUnderWay> collectives) {
    add(wait, WaitGraph::Mode::any);
    for (const OperationAt& at : operations)
      wait_for(wait, at);
    for (const CollectiveUnderWay& collective : collectives)
      wait_for(wait, collective);
    wait.guessed = true;
    all_.graph_.wait_for(wait.node, WaitGraph::guessed);
  }

  /// The groups of operations that a thread's call may wait for: the group of the request on its
  /// stack; if it has none, the groups that hold no other thread's request. Only MPI_Wait and the
  /// like wait for several requests as one group.
  std::vector<std::uint32_t> groups_of(const BlockedCall& call, CallKind kind) const {
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

  static bool is_of_one(const std::vector<OperationAt>& group) {
    const std::uint32_t count = group.front().operation->waited.count;
    return group.size() == 1 && (count == 1 || count == Waited::unknown_count);
  }

  /// A recorder knows everything that a call waits for, once the call has told it.
  void wait_as_recorded(CallWait& wait, CallKind kind) {
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

  void wait_for_requests(CallWait& wait, CallKind kind) {
    choose_requests(wait, kind);
    const bool found = wait.operations.size() == 1 && names_request(*wait.call, kind) &&
                       wait.operations.front().operation->request == wait.call->request;
    if (!whole_ && !found && wait.mode == WaitGraph::Mode::any)
      may_wait_for_hidden(wait);
    if (!whole_ && kind == CallKind::exchange)
      also_waits_for_hidden(wait);
  }

  /// The call needs all of its operations, and not all of them may be shown.
  void also_waits_for_hidden(CallWait& wait) {
    const WaitNode both = all_.graph_.add(WaitGraph::Mode::all);
    all_.graph_.wait_for(both, wait.node);
    all_.graph_.wait_for(both, WaitGraph::unknown);
    wait.node = both;
    say_unknown(wait, fmt::format("all that {} waits for", words_of(wait)));
  }

  /// The call may wait for an operation that was not shown, alone or among others.
  void may_wait_for_hidden(CallWait& wait) {
    if (wait.node == WaitGraph::unknown || wait.node == WaitGraph::satisfied)
      return;
    const WaitNode either = all_.graph_.add(WaitGraph::Mode::any);
    all_.graph_.wait_for(either, wait.node);
    all_.graph_.wait_for(either, WaitGraph::unknown);
    wait.node = either;
    say_unknown(wait, fmt::format("all that {} waits for", words_of(wait)));
  }

  void choose_requests(CallWait& wait, CallKind kind) {
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

  /// Whether the call is known to wait for this request, and for no other one that is listed.
  static bool names_request(const BlockedCall& call, CallKind kind) {
    return call.request && call.request_unique.value_or(kind != CallKind::exchange);
  }

  /// Open MPI marks each request that a call waits for together with others, or in a process of
  /// several threads (Operation::waited). Then the call waits for no request without a mark.
  bool would_be_marked(const BlockedCall& call, CallKind kind) const {
    const bool waits = kind == CallKind::wait_all || kind == CallKind::wait_any;
    return waits && counts_ &&
           (call.call != "MPI_Wait" || is_multi_threaded(*process_.now, threads_));
  }

  void wait_for_candidates(CallWait& wait, CallKind kind,
                           const std::vector<OperationAt>& candidates) {
    const bool waits_for_request = kind == CallKind::wait_all || kind == CallKind::wait_any;
    const std::span collectives = all_.requests_.under_way(index_);
    const std::size_t others = waits_for_request ? collectives.size() : 0;
    if (candidates.empty() && others == 0)
      return wait_for_nothing_seen(wait, !waits_for_request);
    const auto sends = std::ranges::count(candidates, OpClass::send, &OperationAt::op_class);
    const bool one_each = kind == CallKind::exchange && sends <= 1 &&
                          candidates.size() - static_cast<std::size_t>(sends) <= 1;
    if (!one_each && candidates.size() + others > 1)
      return wait_for_one_of(wait, candidates, collectives.first(others));
    wait_for_all(wait, candidates);
    if (others > 0)
      wait_for(wait, collectives.front());
    const bool still = stands_still(process_, *wait.call);
    const bool one_of_two = candidates.size() == 2; // of an exchange: only one may be its own
    if (still && !one_of_two && (waits_for_request ? shows_all_ : whole_ && counts_))
      return; // whatever it waits for is pending and shown, and this is all that there is
    // MPI_Wait may be for a request that no list shows, or about to return. Another call may be
    // about to post its own request, or about to return.
    const bool sure = waits_for_request ? still && candidates.empty() : still && !one_of_two;
    may_wait_for(wait, sure ? WaitGraph::unproven : WaitGraph::guessed);
  }

  /// The call is known to wait for this request: it stands in registers of the MPI's functions. But
  /// if it only stands on the stack, it may be left over from an earlier MPI_Wait.
  void wait_for_known(CallWait& wait, CallKind kind, const OperationAt& at) {
    wait_for_all(wait, {at});
    const bool only = shows_all_ && own_.size() == 1 && all_.requests_.under_way(index_).empty();
    const bool left_over = kind == CallKind::wait_all || kind == CallKind::wait_any;
    if (left_over && !only && wait.call->request_unique != true)
      may_wait_for(wait, WaitGraph::unproven);
  }

  /// An exchange that still sends needs its receive, too, unless that one is complete. It is on the
  /// same communicator, where the program may have others: then it needs the send for certain.
  void wait_for_send_first(CallWait& wait, const OperationAt& send) {
    wait_for_all(wait, {send});
    std::vector<OperationAt> receives;
    std::ranges::copy_if(own_, std::back_inserter(receives), [&](const OperationAt& at) {
      return at.op_class == OpClass::receive && at.seat == send.seat && !at.operation->waited &&
             fits(CallKind::exchange, at.op_class, at.operation->kind);
    });
    if (receives.size() == 1 && wait.call->request_unique == false)
      wait_for(wait, receives.front());
    else
      wait.guessed = !receives.empty();
  }

  /// The call may wait for something else instead: `unproven` or `guessed`.
  void may_wait_for(CallWait& wait, WaitNode other) {
    const WaitNode either = all_.graph_.add(WaitGraph::Mode::any);
    all_.graph_.wait_for(either, wait.node);
    all_.graph_.wait_for(either, other);
    wait.node = either;
    wait.guessed = other == WaitGraph::guessed;
  }

  /// `passes`: such a call goes on now if everything that it could wait for is visible.
  void wait_for_nothing_seen(CallWait& wait, bool passes) {
    if (!passes || !whole_ || !counts_)
      return say_unknown(wait, fmt::format("what {} waits for", *wait.call->call));
    wait.node = WaitGraph::satisfied;
  }

  /// The operations of one group: the call waits for them together, by one object.
  void wait_for_group(CallWait& wait, const std::vector<OperationAt>& operations, CallKind kind) {
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

  /// `count` members of the group are in no list. They may be nonblocking collectives.
  void wait_for_unseen(CallWait& wait, std::size_t count) {
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
    const WaitNode either = all_.graph_.add(WaitGraph::Mode::any);
    all_.graph_.wait_for(either, together);
    all_.graph_.wait_for(either, WaitGraph::guessed);
    all_.graph_.wait_for(wait.node, either);
    wait.guessed = true;
  }

  /// A loop may wait for any operation that it polls; with none pending it goes on by itself.
  void wait_in_loop(CallWait& wait) {
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

  /// It polls for what is in no list, a message that has not come for example.
  void wait_for_anybody(CallWait& wait) {
    wait.node = WaitGraph::unknown;
    wait.by_anybody = true;
    say_unknown(wait, fmt::format("what {} waits for", words_of(wait)));
  }

  static std::string words_of(const CallWait& wait) {
    return wait.call != nullptr ? *wait.call->call : "a loop that sleeps";
  }

  void wait_inside(CallWait& wait) {
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

  /// Then nothing tells whose the operations inside are.
  bool several_threads_in_collectives() const {
    return std::ranges::count_if(threads_, [](const ThreadView& thread) {
             const CallKind kind = thread.call != nullptr && thread.call->call
                                       ? kind_of_call(*thread.call->call)
                                       : CallKind::local;
             return kind == CallKind::collective || kind == CallKind::construct;
           }) > 1;
  }

  /// A recorder tells who has entered the collective.
  bool wait_for_members(CallWait& wait) {
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

  /// A collective of a window or a file need not wait for all members: it may wait for memory of
  /// others, or for the disk.
  bool wait_for_members_of_object(CallWait& wait) {
    const BlockedCall& call = *wait.call;
    const RankDump* before = process_.before;
    if (call.call->starts_with("MPI_File_") &&
        (may_use_file(*process_.now, call) || (before != nullptr && may_use_file(*before, call))))
      return false;
    if (!wait_for_members(wait))
      return false;
    if (wait.members.size() > 0) {
      const bool guessed = wait.guessed;
      may_wait_for(wait, WaitGraph::unproven);
      wait.guessed = guessed;
    }
    return true;
  }

  /// Beside the members that it needs, a collective may wait for any other one. It waits for one of
  /// them if it stands still and nothing else keeps it there.
  void wait_for_others(CallWait& wait, const CollectiveWait& members, bool still) {
    const WaitNode perhaps = all_.graph_.add(WaitGraph::Mode::any);
    all_.graph_.wait_for(perhaps, members.all_others);
    all_.graph_.wait_for(perhaps, WaitGraph::guessed);
    wait.node = all_.graph_.add(WaitGraph::Mode::all);
    all_.graph_.wait_for(wait.node, members.needed);
    all_.graph_.wait_for(wait.node, perhaps);
    if (members.needed != WaitGraph::satisfied)
      return;
    wait.mode = WaitGraph::Mode::any;
    if (still)
      all_.graph_.wait_for(wait.node, members.any_other);
  }

  static void take_absent(CallWait& wait, const Absent& absent) {
    wait.mode = WaitGraph::Mode::all;
    wait.node = absent.node;
    wait.members = absent.members;
  }

  /// A collective between two of its messages goes on, unless it stood there before.
  void wait_in_collective_without_operations(CallWait& wait) {
    if (!counts_ || !whole_ || stands_still(process_, *wait.call))
      return say_unknown(wait, fmt::format("what {} waits for", *wait.call->call));
    wait.node = WaitGraph::satisfied;
    wait.guessed = process_.before == nullptr;
  }

  void wait_with_others(CallWait& wait, CallKind kind) {
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

  /// Whether a call that makes a communicator waits for messages alone. Those of windows also wait
  /// for one-sided transfers, and those that connect jobs for the run-time system.
  static bool waits_for_messages(std::string_view call) {
    return kind_of_call(call) == CallKind::construct &&
           dependence_of(call) == CollectiveKind::everybody && !call.starts_with("MPI_Win_");
  }

  /// MPI_Finalize waits for all connected processes that have neither entered it nor gone.
  void wait_for_all_to_leave(CallWait& wait) {
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

  CallWaits& all_;
  std::size_t index_;
  const Process& process_;
  const std::vector<ThreadView>& threads_;
  std::vector<OperationAt> own_;    ///< the program's pending operations
  std::vector<OperationAt> inside_; ///< pending operations inside blocking collectives
  std::map<std::uint32_t, std::vector<OperationAt>> groups_;
  std::unordered_map<std::uint64_t, std::uint32_t> group_of_; ///< by address of the request
  bool whole_ = true; ///< the lists of sends and receives are whole
  /// Everything that calls send and receive is visible: also blocking sends, probes and the inside
  /// of collectives. An MPI whose messages are counted shows these, too.
  bool counts_ = false;
  bool shows_all_ = false;  ///< so is every request that a call may wait for
  bool records_all_ = true; ///< the process has a recorder that has missed nothing
};

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
