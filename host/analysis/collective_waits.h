#pragma once

#include "host/analysis/job_picture.h"
#include "host/analysis/wait_graph.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace mqbridge {

/// A collective that a process has entered, as its recorder tells: the call that it is in, or a
/// nonblocking collective that is under way.
struct EnteredCollective {
  std::size_t process = 0;
  const Seat* seat = nullptr;
  std::string call;          ///< "MPI_Barrier", "MPI_Ibcast"
  std::int64_t sequence = 0; ///< BlockedCall::sequence
  std::optional<std::int64_t> root;
};
/// The collective of a call; nullopt: the call is none, or its number is not known.
std::optional<EnteredCollective> entered_by(const JobPicture& picture, std::size_t process,
                                            const BlockedCall& call);

/// The members that a collective waits for: members that have not entered it.
struct CollectiveWait {
  /// The members without which it cannot end, whatever the MPI does: for MPI_Barrier all, for
  /// MPI_Bcast the root.
  WaitNode needed = WaitGraph::satisfied;
  /// All absent members together, and any one of them. Some MPIs need one of these, for example to
  /// pass a message on. Both `satisfied`: `needed` has all absent members.
  WaitNode all_others = WaitGraph::satisfied;
  WaitNode any_other = WaitGraph::satisfied;
  PartnerList members; ///< the members in `needed`; if there are none, the others
  /// Some members have left their n-th collective again: nobody sees whether it was the same one.
  bool left = false;
  /// Some members have entered it since the look before, or there was no look before.
  bool fresh = false;

  bool has_others() const { return any_other != WaitGraph::satisfied; }
};

/// Two members whose n-th collectives on a communicator are not the same.
struct CollectiveMismatch {
  EnteredCollective one;
  EnteredCollective other;
};

/// The collectives that recorders tell of. A recorder numbers them on each communicator, so that it
/// is known who has entered which one. Refers to the picture and the graph.
class CollectiveWaits {
public:
  /// `node_of` makes the node of a member that has not entered the collective. `unsure`: perhaps it
  /// has.
  using NodeOf = std::function<WaitNode(const Partner& member, bool unsure)>;

  CollectiveWaits(const JobPicture& picture, WaitGraph& graph, NodeOf node_of);

  /// nullopt: the members of the communicator are not known, or too many collectives wait for too
  /// many.
  std::optional<CollectiveWait> wait_of(const EnteredCollective& collective);
  /// One mismatch for each collective.
  const std::vector<CollectiveMismatch>& mismatches() const { return mismatches_; }

private:
  /// The members that have not entered a collective, by local rank.
  struct Absent {
    std::vector<std::int64_t> ranks;
    PartnerList members;
    std::vector<WaitNode> nodes;
    WaitNode all = WaitGraph::satisfied;
    WaitNode any = WaitGraph::satisfied;
    std::vector<WaitNode> up_to; ///< at place i: a node that waits for nodes 0 to i
    bool left = false;           ///< as in CollectiveWait
    bool fresh = false;
  };
  using Meeting = std::pair<std::uint32_t, std::int64_t>; ///< communicator and number

  void find_visible();
  void find_mismatches();
  bool is_in_such(std::size_t process, const EnteredCollective& collective) const;
  std::optional<Absent> find_absent(const EnteredCollective& collective);
  static CollectiveWait of_all(const Absent& absent);
  static CollectiveWait of_others(const Absent& absent);
  static CollectiveWait of_one(const Absent& absent, std::int64_t rank);
  CollectiveWait of_lower(Absent& absent, std::int64_t rank);

  const JobPicture& picture_;
  WaitGraph& graph_;
  NodeOf node_of_;
  std::map<Meeting, std::vector<EnteredCollective>> visible_; ///< by process
  /// The same, by process and communicator.
  std::map<std::pair<std::size_t, std::uint32_t>, std::vector<const EnteredCollective*>> in_calls_;
  std::vector<CollectiveMismatch> mismatches_;
  std::size_t listed_ = 0; ///< members in `absent_`
  /// By communicator, first member of the group that takes part, number, call and root.
  std::map<
      std::tuple<std::uint32_t, std::size_t, std::int64_t, std::int64_t, std::string, std::int64_t>,
      std::optional<Absent>>
      absent_;
};

} // namespace mqbridge
