#pragma once

#include "host/analysis/job_picture.h"
#include "host/analysis/partner_list.h"
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

/// A collective that a process has entered, and of which a recorder tells: a call that it is in, or
/// a nonblocking one that is under way.
struct EnteredCollective {
  std::size_t process = 0;
  const Seat* seat = nullptr;
  std::string call;          ///< "MPI_Barrier", "MPI_Ibcast"
  std::int64_t sequence = 0; ///< BlockedCall::sequence
  std::optional<std::int64_t> root;
};
/// The one that a call is; nullopt: none, or its number is not known.
std::optional<EnteredCollective> entered_by(const JobPicture& picture, std::size_t process,
                                            const BlockedCall& call);

/// Whom a collective waits for: members that have not entered it.
struct CollectiveWait {
  /// All those without whom it cannot end, whatever the MPI does: of MPI_Barrier all, of MPI_Bcast
  /// the root.
  WaitNode needed = WaitGraph::satisfied;
  /// All the absent ones, and any of them: on some it may depend by the way in which the MPI does
  /// it. Who passes on a message, say. Both `satisfied`: `needed` has them all.
  WaitNode all_others = WaitGraph::satisfied;
  WaitNode any_other = WaitGraph::satisfied;
  PartnerList members; ///< those needed, else the others
  /// Some have left it again: that it was the same one is not seen.
  bool left = false;
  /// Some have entered it since the look before, or there was none.
  bool fresh = false;

  bool has_others() const { return any_other != WaitGraph::satisfied; }
};

/// Two members whose n-th collectives on a communicator are not the same.
struct CollectiveMismatch {
  EnteredCollective one;
  EnteredCollective other;
};

/// The collectives that recorders tell of. A recorder numbers them on each communicator, so it is
/// known who has entered which one. Refers to the picture and the graph.
class CollectiveWaits {
public:
  /// `node_of`: a process that has not entered it, or, where `unsure`, of which that is not known.
  using NodeOf = std::function<WaitNode(const Partner& member, bool unsure)>;

  CollectiveWaits(const JobPicture& picture, WaitGraph& graph, NodeOf node_of);

  /// nullopt: the members of the communicator are not known.
  std::optional<CollectiveWait> wait_of(const EnteredCollective& collective);
  /// One for each collective.
  const std::vector<CollectiveMismatch>& mismatches() const { return mismatches_; }

private:
  /// Members that have not entered a collective, by local rank.
  struct Absent {
    std::vector<std::int64_t> ranks;
    PartnerList members;
    std::vector<WaitNode> nodes;
    WaitNode all = WaitGraph::satisfied;
    WaitNode any = WaitGraph::satisfied;
    std::vector<WaitNode> up_to; ///< by place: all nodes up to there
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
  /// The same by process and communicator.
  std::map<std::pair<std::size_t, std::uint32_t>, std::vector<const EnteredCollective*>> in_calls_;
  std::vector<CollectiveMismatch> mismatches_;
  /// By communicator and the first of the members that are meant, by number, call and root.
  std::map<
      std::tuple<std::uint32_t, std::size_t, std::int64_t, std::int64_t, std::string, std::int64_t>,
      std::optional<Absent>>
      absent_;
};

} // namespace mqbridge
