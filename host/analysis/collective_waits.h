#pragma once

#include "host/analysis/job_picture.h"
#include "host/analysis/wait_graph.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
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

  /// nullopt: the members of the communicator are not known.
  std::optional<CollectiveWait> wait_of(const EnteredCollective& collective);
  /// One mismatch for each collective.
  const std::vector<CollectiveMismatch>& mismatches() const { return mismatches_; }

private:
  struct Member {
    std::int64_t rank = 0; ///< local
    Partner partner;
    WaitNode node = 0;
  };
  /// Members with their nodes. Collectives for which the same members are absent share them.
  struct List {
    std::vector<std::int64_t> ranks;
    PartnerList members;
    std::vector<WaitNode> nodes;
    WaitNode all = WaitGraph::satisfied;
    WaitNode any = WaitGraph::satisfied;
    std::vector<WaitNode> up_to; ///< at place i: a node that waits for nodes 0 to i
  };
  /// Nodes that wait for all, or any, of the nodes before a place of a list, and from it on.
  struct Chains {
    std::vector<WaitNode> before, behind;
  };
  /// The members that have not entered a collective: a list, without a part of it.
  struct Absent {
    std::shared_ptr<List> list; ///< by local rank, unless `skips`
    std::size_t from = 0, to = 0;
    WaitNode all = WaitGraph::satisfied;
    WaitNode any = WaitGraph::satisfied;
    bool left = false; ///< as in CollectiveWait
    bool fresh = false;

    bool skips() const { return to > from; }
    PartnerList members() const {
      return skips() ? list->members.without(from, to) : list->members;
    }
  };
  /// Those who are in the same collective but for the root that they give.
  struct OfRoot {
    std::vector<Member> members;
    bool fresh = false;
    std::size_t from = 0, to = 0; ///< their part of Gathered::everybody
  };
  /// The members of one communicator in view of one call with one number.
  struct Gathered {
    std::vector<Member> absent; ///< whatever the root is; without roots they are in `list`
    std::shared_ptr<List> list = nullptr;
    std::map<std::int64_t, OfRoot> roots;
    bool left = false;
    bool fresh = false;
    /// If there are many roots: `absent`, then the others by root.
    std::shared_ptr<List> everybody = nullptr;
    Chains all = {}, any = {};
  };
  /// A communicator, and the first member of the group that takes part.
  using Side = std::tuple<std::uint32_t, std::size_t, std::int64_t>;
  using Meeting = std::pair<std::uint32_t, std::int64_t>; ///< communicator and number

  void find_visible();
  void find_mismatches();
  bool is_in_such(std::size_t process, const EnteredCollective& collective) const;
  std::optional<Gathered> gather(const EnteredCollective& collective);
  Absent absent_of(const Side& side, Gathered& gathered, const EnteredCollective& collective);
  std::shared_ptr<List> list_of(const Side& side, const std::vector<Member>& members);
  static std::shared_ptr<List> listed(const std::vector<Member>& members);
  void put_in_order(Gathered& gathered);
  Chains chains_of(const std::vector<WaitNode>& nodes, WaitGraph::Mode mode);
  WaitNode node_around(const Chains& chains, const OfRoot& part, WaitGraph::Mode mode);
  static CollectiveWait of_all(const Absent& absent);
  static CollectiveWait of_others(const Absent& absent);
  static CollectiveWait of_one(const Absent& absent, std::int64_t rank);
  CollectiveWait of_lower(const Absent& absent, std::int64_t rank);

  const JobPicture& picture_;
  WaitGraph& graph_;
  NodeOf node_of_;
  std::map<Meeting, std::vector<EnteredCollective>> visible_; ///< by process
  /// The same, by process and communicator.
  std::map<std::pair<std::size_t, std::uint32_t>, std::vector<const EnteredCollective*>> in_calls_;
  std::vector<CollectiveMismatch> mismatches_;
  /// By number and call.
  std::map<std::tuple<Side, std::int64_t, std::string>, std::optional<Gathered>> gathered_;
  /// By number, call and root.
  std::map<std::tuple<Side, std::int64_t, std::string, std::int64_t>, Absent> absent_;
  std::map<std::pair<Side, std::vector<std::int64_t>>, std::shared_ptr<List>> lists_; ///< by ranks
};

} // namespace mqbridge
