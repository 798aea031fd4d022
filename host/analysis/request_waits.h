#pragma once

#include "host/analysis/channels.h"
#include "host/analysis/collective_waits.h"
#include "host/analysis/job_picture.h"
#include "host/analysis/message_index.h"
#include "host/analysis/receive_numbers.h"
#include "host/analysis/wait_graph.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace mqbridge {

/// An operation, and the communicator and queue that it is in.
struct OperationAt {
  const Seat* seat = nullptr;
  OpClass op_class = OpClass::receive;
  const Operation* operation = nullptr;
};

/// Whether a call can still wait for it: it is pending, or a receive whose message is still coming.
bool is_open(const Operation& operation);

/// A nonblocking collective of one process, known by the MPI's own messages for it or by a
/// recorder. It goes on whenever its process is in a call of MPI.
struct CollectiveUnderWay {
  WaitNode node = 0; ///< all of its operations, or all members that it needs
  const Seat* seat = nullptr;
  std::int64_t tag = 0;
  std::vector<OperationAt> operations;
  const RecordedCollective* recorded = nullptr; ///< nullptr: it is known by its messages alone
  CollectiveWait members = {};                  ///< if it is a recorded one
};

/// Works out what single operations wait for: nodes of the processes that must do something first.
/// Refers to all of its arguments.
class RequestWaits {
public:
  /// `process_nodes`: one of each process of the picture.
  RequestWaits(const JobPicture& picture, const Channels& channels, WaitGraph& graph,
               const std::vector<WaitNode>& process_nodes);

  /// The node of an operation: it goes on when everything has happened that the operation needs to
  /// complete. `alone`: a call that stood there in the look before waits for it, and for nothing
  /// else.
  WaitNode node_of(std::size_t process, const OperationAt& at, bool alone = false);
  /// The node of a process that somebody waits for: it goes on if the process can still do
  /// something in MPI.
  WaitNode node_of(const Partner& partner) const;
  /// The same for `process` as the one who waits: it cannot help itself unless it has more threads.
  WaitNode node_for(std::size_t process, const Partner& partner) const;
  /// The node of a process that was there when somebody began to wait for it. If it is gone, it may
  /// have done before what was waited for.
  WaitNode node_unless_gone(const Partner& partner) {
    return partner.process && does_no_more(*partner.process) ? member(partner, true)
                                                             : node_of(partner);
  }
  /// The nonblocking collectives of the process that are not complete.
  const std::vector<CollectiveUnderWay>& under_way(std::size_t process) const {
    return under_way_[process];
  }

  /// The collectives that have numbers.
  CollectiveWaits& collectives() { return collectives_; }
  const CollectiveWaits& collectives() const { return collectives_; }
  /// The receiver that a send needs as long as it is not complete.
  WaitNode receiver_of(std::size_t process, const OperationAt& at) const;
  /// The process that an operation's peer names; nullopt: not known, or nobody in particular.
  std::optional<Partner> partner_of(std::size_t process, const OperationAt& at) const {
    return picture_.partner(process, *at.seat->communicator, at.operation->peer);
  }
  /// Whether it had met its message in the look before.
  bool was_met_before(const OperationAt& at);
  /// Whether both processes were in MPI in both looks: then transfers between them go on.
  bool both_progress(std::size_t one, std::size_t other) const;
  /// Notes messages that have met their receive, and do not come.
  void note_stuck(std::size_t sender, std::size_t receiver) {
    stuck_.emplace_back(sender, receiver);
  }

  /// The process has left MPI, or is leaving it: nobody gets anything from it any more.
  bool does_no_more(std::size_t process) const { return does_no_more_[process]; }
  /// Channels with stuck messages for which somebody waits: sender and receiver. If any process may
  /// be the sender, the pair has the receiver twice.
  const std::vector<std::pair<std::size_t, std::size_t>>& stuck() const { return stuck_; }
  /// Processes that have left MPI, and whose earlier messages would matter.
  const std::set<std::size_t>& left_unseen() const { return left_unseen_; }

private:
  void find_collectives_under_way();
  void wait_for_members(std::size_t process, CollectiveUnderWay& collective);
  WaitNode receive(std::size_t process, const Seat& seat, const Operation& operation);
  WaitNode wildcard(std::size_t process, const Seat& seat, const Operation& operation);
  WaitNode message_to(std::size_t process, const Seat& seat, const Operation& receive,
                      std::size_t sender);
  static bool was_suspended(const Process& process);
  bool has_receive(const Communicator& receiver, std::int64_t own_rank, const Operation& send);
  bool meets_receive(const Communicator& receiver, std::int64_t own_rank, const Operation& send);
  WaitNode members_of_instance(std::size_t process, const Seat& seat, const Operation& operation);
  WaitNode absent_members(std::size_t process, const Seat& seat, const Operation& operation);
  WaitNode send(std::size_t process, const Seat& seat, const Operation& operation);
  WaitNode send_to(std::size_t process, std::size_t receiver, const Seat& seat,
                   const Operation& operation);
  WaitNode recorded_send(std::size_t process, std::size_t receiver, const OperationAt& at);
  WaitNode met_send(std::size_t process, const OperationAt& at);
  WaitNode member(const Partner& partner, bool unsure);
  WaitNode anybody(std::size_t process, const Seat& seat);
  /// The node of the partner, or of its part of the same nonblocking collective.
  WaitNode peer_in(std::size_t process, const Partner& partner, const Seat& seat,
                   const Operation& operation);
  /// The node of a receive that has met its message, which is still coming.
  WaitNode matched(std::size_t process, const Seat& seat, const Operation& operation);
  bool was_gone(std::size_t process) const;
  bool sends_no_data(const std::optional<Partner>& partner) const;
  WaitNode still_gone(std::size_t process);
  /// Whether the process counts its messages on the communicator of this seat, which another
  /// process may have.
  bool counts(std::size_t process, const Seat& seat) const;
  bool all_count(std::size_t process, const Seat& seat);
  Traffic seen(Traffic traffic, std::size_t sender, std::size_t receiver);
  bool is_in_instance(std::size_t member, std::uint32_t key, const Operation& operation) const;

  const JobPicture& picture_;
  const Channels& channels_;
  WaitGraph& graph_;
  const std::vector<WaitNode>& process_nodes_;
  IndexOfEach<ArrivedMessages> arrived_;
  IndexOfEach<PostedReceives> posted_;
  ReceiveNumbers numbers_{picture_};
  IndexOfEach<MetOperations> met_before_;
  std::vector<bool> does_no_more_;
  std::vector<bool> did_no_more_;            ///< in the look before
  std::optional<std::string> earliest_stop_; ///< the first stop of the newest looks; RFC 3339
  bool suspended_ = false;                   ///< somebody was in one of the looks
  std::vector<bool> has_threads_;            ///< several threads may be in MPI at once
  std::vector<std::vector<CollectiveUnderWay>> under_way_;
  CollectiveWaits collectives_;
  /// By communicator, and by the first member of the group from which the receiver receives.
  std::map<std::tuple<std::uint32_t, std::size_t, std::int64_t>, WaitNode> anybody_;
  /// By communicator of one process, and tag.
  std::map<std::pair<const Seat*, std::int64_t>, WaitNode> instances_;
  std::vector<std::pair<std::size_t, std::size_t>> stuck_; ///< sender, receiver
  std::set<std::size_t> left_unseen_;
};

} // namespace mqbridge
