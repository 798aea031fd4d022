#pragma once

#include "host/analysis/channels.h"
#include "host/analysis/collective_waits.h"
#include "host/analysis/job_picture.h"
#include "host/analysis/message_index.h"
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

/// An operation, and where it stands.
struct OperationAt {
  const Seat* seat = nullptr;
  OpClass op_class = OpClass::receive;
  const Operation* operation = nullptr;
};

/// Whether it is there to be waited for: pending, or a receive whose message is still coming.
bool is_open(const Operation& operation);

/// A nonblocking collective of one process, by what the MPI itself sends and receives for it, or as
/// a recorder tells. It goes on whenever its process is in a call of MPI.
struct CollectiveUnderWay {
  WaitNode node = 0; ///< its operations, all of them; or the members that it needs
  const Seat* seat = nullptr;
  std::int64_t tag = 0;
  std::vector<OperationAt> operations;
  const RecordedCollective* recorded = nullptr; ///< nullptr: its messages are what is known of it
  CollectiveWait members = {};                  ///< of a recorded one
};

/// What single operations wait for: nodes of the processes that must do something first. Refers to
/// all that it is made of.
class RequestWaits {
public:
  /// `process_nodes`: one of each process of the picture.
  RequestWaits(const JobPicture& picture, const Channels& channels, WaitGraph& graph,
               const std::vector<WaitNode>& process_nodes);

  /// An operation of the process: all that must happen for it to complete.
  WaitNode node_of(std::size_t process, const OperationAt& at);
  /// A process that somebody waits for: it must do something in MPI that it has not done yet.
  WaitNode node_of(const Partner& partner) const;
  /// The same for `process`, which cannot help itself unless it has more threads.
  WaitNode node_for(std::size_t process, const Partner& partner) const;
  /// The nonblocking collectives of the process that are not complete.
  const std::vector<CollectiveUnderWay>& under_way(std::size_t process) const {
    return under_way_[process];
  }

  /// Collectives that have numbers.
  CollectiveWaits& collectives() { return collectives_; }
  const CollectiveWaits& collectives() const { return collectives_; }
  /// Whom a send needs as long as it is not complete.
  WaitNode receiver_of(std::size_t process, const OperationAt& at) const;
  /// What an operation's peer is; nullopt: not known, or nobody in particular.
  std::optional<Partner> partner_of(std::size_t process, const OperationAt& at) const {
    return picture_.partner(process, *at.seat->communicator, at.operation->peer);
  }
  /// It had met its message in the look before.
  bool was_met_before(const OperationAt& at);
  /// Both were in MPI in both looks, where all that can go on does.
  bool both_progress(std::size_t one, std::size_t other) const;
  /// Messages that have met each other, and do not come.
  void note_stuck(std::size_t sender, std::size_t receiver) {
    stuck_.emplace_back(sender, receiver);
  }

  /// It has left MPI, or is leaving it: nobody gets anything from it any more.
  bool does_no_more(std::size_t process) const { return does_no_more_[process]; }
  /// Channels on which messages are stuck that somebody waits for. Where anybody may send them,
  /// the sender is the receiver itself.
  const std::vector<std::pair<std::size_t, std::size_t>>& stuck() const { return stuck_; }
  /// Processes that have left MPI, and of which it matters what they had sent before.
  const std::set<std::size_t>& left_unseen() const { return left_unseen_; }

private:
  void find_collectives_under_way();
  void wait_for_members(std::size_t process, CollectiveUnderWay& collective);
  WaitNode receive(std::size_t process, const Seat& seat, const Operation& operation);
  WaitNode wildcard(std::size_t process, const Seat& seat);
  WaitNode members_of_instance(std::size_t process, const Seat& seat, const Operation& operation);
  WaitNode absent_members(std::size_t process, const Seat& seat, const Operation& operation);
  WaitNode send(std::size_t process, const Seat& seat, const Operation& operation);
  WaitNode send_to(std::size_t process, std::size_t receiver, const Seat& seat,
                   const Operation& operation);
  WaitNode recorded_send(std::size_t process, std::size_t receiver, const OperationAt& at);
  WaitNode met_send(std::size_t process, const OperationAt& at);
  WaitNode member(const Partner& partner, bool unsure);
  WaitNode anybody(std::size_t process, const Seat& seat);
  /// The process, or its part of the same nonblocking collective.
  WaitNode peer_in(std::size_t process, const Partner& partner, const Seat& seat,
                   const Operation& operation);
  /// A receive that has met its message, which is still coming.
  WaitNode matched(std::size_t process, const Seat& seat, const Operation& operation);
  WaitNode still_gone(std::size_t process);
  /// Whether the process counts its messages on the communicator of somebody's seat.
  bool counts(std::size_t process, const Seat& seat) const;
  WaitNode either(WaitNode one, WaitNode other);
  bool all_count(std::size_t process, const Seat& seat);
  Traffic seen(Traffic traffic, std::size_t sender, std::size_t receiver);
  bool is_in_instance(std::size_t member, std::uint32_t key, const Operation& operation) const;

  const JobPicture& picture_;
  const Channels& channels_;
  WaitGraph& graph_;
  const std::vector<WaitNode>& process_nodes_;
  IndexOfEach<ArrivedMessages> arrived_;
  IndexOfEach<PostedReceives> posted_;
  IndexOfEach<MetOperations> met_before_;
  std::vector<bool> does_no_more_;
  std::vector<bool> did_no_more_;            ///< in the look before
  std::optional<std::string> earliest_stop_; ///< of what the document shows; RFC 3339
  std::vector<bool> has_threads_;            ///< may be in MPI with several at once
  std::vector<std::vector<CollectiveUnderWay>> under_way_;
  CollectiveWaits collectives_;
  /// By communicator, and by who is the first one on the side that receives from it.
  std::map<std::tuple<std::uint32_t, std::size_t, std::int64_t>, WaitNode> anybody_;
  /// By communicator of one process, and tag.
  std::map<std::pair<const Seat*, std::int64_t>, WaitNode> instances_;
  std::vector<std::pair<std::size_t, std::size_t>> stuck_; ///< sender, receiver
  std::set<std::size_t> left_unseen_;
};

} // namespace mqbridge
