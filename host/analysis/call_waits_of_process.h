#pragma once

#include "host/analysis/call_waits.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mqbridge {

/// Works out the waits of one process. Refers to all of its arguments. Requests are in
/// call_waits_for_requests.cpp, what goes on between several processes in
/// call_waits_for_others.cpp.
class CallWaits::OfProcess {
public:
  OfProcess(CallWaits& all, std::size_t process, const std::vector<ThreadView>& threads);

  CallWait wait_of(const BlockedCall& call);

  /// Nothing tells which call the process is in.
  CallWait wait_by_operations();

  /// Whether a loop could poll for something.
  bool has_pending() const { return !own_.empty() || !all_.requests_.under_way(index_).empty(); }

  /// A thread sleeps in a loop, and calls MPI in between: like a loop around MPI_Test or
  /// MPI_Iprobe. But the loop may end by something else than MPI, and the thread may send then.
  CallWait wait_asleep(const BlockedCall& sleep, bool polls);

private:
  void take(const Seat& seat, OpClass op_class);

  /// By the kind of its call.
  void take_waits(CallWait& wait);

  WaitNode add(CallWait& wait, WaitGraph::Mode mode) {
    wait.mode = mode;
    wait.node = all_.graph_.add(mode);
    return wait.node;
  }

  void wait_for(CallWait& wait, const OperationAt& at);

  void wait_for(CallWait& wait, const CollectiveUnderWay& collective);

  void wait_for_all(CallWait& wait, const std::vector<OperationAt>& operations);

  static void say_unknown(CallWait& wait, std::string why) {
    wait.unseen = true;
    wait.unknown = std::move(why);
  }

  /// The call waits for one of all these, and nobody knows for which one.
  void wait_for_one_of(CallWait& wait, const std::vector<OperationAt>& operations,
                       std::span<const CollectiveUnderWay> collectives);

  /// A loop may wait for any operation that it polls; with none pending it goes on by itself.
  void wait_in_loop(CallWait& wait);

  /// It polls for what is in no list, a message that has not come for example.
  void wait_for_anybody(CallWait& wait);

  static std::string words_of(const CallWait& wait) {
    return wait.call != nullptr ? *wait.call->call : "a loop that sleeps";
  }

  /// The groups of operations that a thread's call may wait for: the group of the request on its
  /// stack; if it has none, the groups that hold no other thread's request. Only MPI_Wait and the
  /// like wait for several requests as one group.
  std::vector<std::uint32_t> groups_of(const BlockedCall& call, CallKind kind) const;

  static bool is_of_one(const std::vector<OperationAt>& group) {
    const std::uint32_t count = group.front().operation->waited.count;
    return group.size() == 1 && (count == 1 || count == Waited::unknown_count);
  }

  /// Where no queue could be read: by the arguments of the call, on MPI_COMM_WORLD. False: they do
  /// not tell it. In call_waits_by_arguments.cpp.
  bool wait_by_arguments(CallWait& wait, CallKind kind);
  WaitNode node_of_arguments(CallWait& wait, CallKind kind);
  WaitNode other_in_world(CallWait& wait, std::optional<std::int64_t> rank, bool any,
                          WaitNode perhaps);
  /// Beside its partner, what may let the call go on: a message that is on its way.
  WaitNode on_its_way(const BlockedCall& call, bool blocks) const;

  /// A recorder knows everything that a call waits for, once the call has told it.
  void wait_as_recorded(CallWait& wait, CallKind kind);

  void wait_for_requests(CallWait& wait, CallKind kind);

  /// The call needs all of its operations, and not all of them may be shown.
  void also_waits_for_hidden(CallWait& wait);

  /// The call may wait for an operation that was not shown, alone or among others.
  void may_wait_for_hidden(CallWait& wait);

  void choose_requests(CallWait& wait, CallKind kind);

  /// Whether the call is known to wait for this request, and for no other one that is listed.
  static bool names_request(const BlockedCall& call, CallKind kind) {
    return call.request && call.request_unique.value_or(kind != CallKind::exchange);
  }

  /// Open MPI marks each request that a call waits for together with others, or in a process of
  /// several threads (Operation::waited). Then the call waits for no request without a mark.
  bool would_be_marked(const BlockedCall& call, CallKind kind) const;

  void wait_for_candidates(CallWait& wait, CallKind kind,
                           const std::vector<OperationAt>& candidates);

  /// The call is known to wait for this request: it stands in registers of the MPI's functions. But
  /// if it only stands on the stack, it may be left over from an earlier MPI_Wait.
  void wait_for_known(CallWait& wait, CallKind kind, const OperationAt& at);

  /// An exchange that still sends needs its receive, too, unless that one is complete. It is on the
  /// same communicator, where the program may have others.
  void wait_for_send_first(CallWait& wait, const OperationAt& send);

  /// An exchange waits for its send, its receive or both, and nothing tells which of these they
  /// are.
  void wait_for_own_of(CallWait& wait, const std::vector<OperationAt>& candidates);

  /// Goes on once all of these have. What it does if only some of them have is not known.
  WaitNode all_or_unknown(const std::vector<OperationAt>& operations);

  /// The call may wait for something else instead: `unproven`, `guessed` or `doubtful`.
  void may_wait_for(CallWait& wait, WaitNode other);

  /// `passes`: such a call goes on now if everything that it could wait for is visible.
  void wait_for_nothing_seen(CallWait& wait, bool passes);

  /// The operations of one group: the call waits for them together, by one object.
  void wait_for_group(CallWait& wait, const std::vector<OperationAt>& operations, CallKind kind);

  /// `count` members of the group are in no list. They may be nonblocking collectives.
  void wait_for_unseen(CallWait& wait, std::size_t count);

  void wait_inside(CallWait& wait);

  /// Then nothing tells whose the operations inside are.
  bool several_threads_in_collectives() const;

  /// A recorder tells who has entered the collective.
  bool wait_for_members(CallWait& wait);

  /// A collective of a window or a file need not wait for all members: it may wait for memory of
  /// others, or for the disk.
  bool wait_for_members_of_object(CallWait& wait);

  /// Beside the members that it needs, a collective may wait for any other one. It waits for one of
  /// them if it stands still and nothing else keeps it there.
  void wait_for_others(CallWait& wait, const CollectiveWait& members, bool still);

  static void take_absent(CallWait& wait, const Absent& absent) {
    wait.mode = WaitGraph::Mode::all;
    wait.node = absent.node;
    wait.members = absent.members;
  }

  /// A collective between two of its messages goes on, unless it stood there before.
  void wait_in_collective_without_operations(CallWait& wait);

  void wait_with_others(CallWait& wait, CallKind kind);

  /// Whether a call that makes a communicator waits for messages alone. Those of windows also wait
  /// for one-sided transfers, and those that connect jobs for the run-time system.
  static bool waits_for_messages(std::string_view call);

  /// MPI_Finalize waits for all connected processes that have neither entered it nor gone.
  void wait_for_all_to_leave(CallWait& wait);

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

} // namespace mqbridge
