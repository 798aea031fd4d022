#include "host/dump/together/joint_sides.h"

#include <algorithm>
#include <compare>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

namespace mqbridge {
namespace {

/// How far the clocks of two computers may be apart, in us.
constexpr std::uint64_t clock_difference = 60'000'000;
/// How often results are used to find more. Each round compares everything anew.
constexpr int most_rounds = 32;
/// Pairs of sides of the same sizes that are compared; a document may claim any number.
constexpr std::size_t most_compared = 2'000'000;

/// Identifies the clock of a process's times. Empty: not known, and shared with no other process.
std::string clock_of(const RankDump& rank) {
  constexpr std::string_view local = "local:";
  if (rank.host)
    return *rank.host;
  return rank.endpoint.starts_with(local) ? std::string(local) : "";
}

/// The processes of one local group that are in the document, with their common facts.
struct Side {
  const Joint* joint = nullptr;
  bool settled = true; ///< false: which joint the communicator came from is not known yet
  std::set<std::size_t> ranks;
  std::set<std::pair<std::size_t, std::uint64_t>> nodes;
  std::set<std::string> clocks;
  std::string mark;
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max(); ///< when one came to the call
  std::uint64_t left = std::numeric_limits<std::uint64_t>::max();  ///< when the first one left it
  bool contradicts_itself = false;
  bool meets_again =
      false; ///< a process of it is in such a call now, and who it meets is not known

  void add(std::size_t rank, std::size_t job, const Joint& said, const std::string& clock) {
    if (joint == nullptr)
      joint = &said;
    contradicts_itself |= joint->size != said.size || joint->remote_size != said.remote_size ||
                          joint->call != said.call ||
                          (!mark.empty() && !said.mark.empty() && mark != said.mark);
    if (mark.empty())
      mark = said.mark;
    ranks.insert(rank);
    nodes.emplace(job, said.id);
    clocks.insert(clock);
    first = std::min(first, said.began);
    left = std::min(left, said.ended);
  }
};

bool is_spawn(std::string_view call) {
  return call == "MPI_Comm_spawn" || call == "MPI_Comm_spawn_multiple";
}

/// `one` may be the other end of `other`, in this order.
bool calls_fit(std::string_view one, std::string_view other) {
  constexpr std::string_view alike[] = {"MPI_Comm_join", "MPI_Intercomm_create"};
  return (is_spawn(one) && other == "MPI_Init") ||
         (one == "MPI_Comm_accept" && other == "MPI_Comm_connect") ||
         (one == other && std::ranges::find(alike, one) != std::end(alike));
}

std::uint64_t tolerance_of(const Side& one, const Side& other) {
  const bool one_clock =
      one.clocks == other.clocks && one.clocks.size() == 1 && !one.clocks.begin()->empty();
  return one_clock ? 0 : clock_difference;
}

bool comes_before_leaving(const Side& one, const Side& other, std::uint64_t tolerance) {
  return one.first <= other.left || one.first - other.left <= tolerance;
}

/// No process leaves the call before both sides have come.
bool times_fit(const Side& one, const Side& other) {
  const auto tolerance = tolerance_of(one, other);
  return comes_before_leaving(one, other, tolerance) && comes_before_leaving(other, one, tolerance);
}

/// Whether nothing shows that these two did not meet. If there are several such pairs, none is
/// believed.
bool may_have_met(const Side& one, const Side& other) {
  const bool sizes =
      one.joint->size == other.joint->remote_size && one.joint->remote_size == other.joint->size;
  const bool marks = one.mark.empty() || other.mark.empty() || one.mark == other.mark;
  const auto is_of_other = [&](std::size_t rank) { return other.ranks.contains(rank); };
  return sizes && marks && std::ranges::none_of(one.ranks, is_of_other) && times_fit(one, other) &&
         (calls_fit(one.joint->call, other.joint->call) ||
          calls_fit(other.joint->call, one.joint->call));
}

/// Whether both know the same port, parent or connection. Without it the true other side may be
/// missing in the document.
bool are_known_to_have_met(const Side& one, const Side& other) {
  return !one.mark.empty() && one.mark == other.mark && !one.contradicts_itself &&
         !other.contradicts_itself && !one.meets_again && !other.meets_again;
}

/// If a process makes two such calls, the other side of the first may wait for the second.
bool is_in_such_a_call(const RankDump& rank) {
  const auto meets = [](const BlockedCall& blocked) {
    const std::string_view call = blocked.call ? std::string_view(*blocked.call) : "";
    return is_spawn(call) || call == "MPI_Comm_accept" || call == "MPI_Comm_connect" ||
           call == "MPI_Comm_join";
  };
  return rank.blocked_in && std::ranges::any_of(*rank.blocked_in, meets);
}

/// Whether it has a joint that is not known: any other joint may be its other side.
bool may_have_met_more(const RankDump& rank) {
  return std::ranges::any_of(rank.joints, [](const Joint& joint) { return joint.id == 0; });
}

/// The common facts of one local group: their job and the id. If they are of several jobs: the
/// joint from which their communicator came, and the call on it. As long as that joint is not
/// known, only those of one job are known to belong together.
struct SideKey {
  bool settled = true;
  bool nested = false;
  std::size_t job_or_joint = 0;
  std::uint64_t id_or_path = 0;
  std::uint32_t sequence = 0;
  std::string call;
  auto operator<=>(const SideKey&) const = default;
};

class Matching {
public:
  using Node = std::pair<std::size_t, std::uint64_t>;

  Matching(const Dump& dump, const std::vector<std::size_t>& job_of)
      : dump_(dump), job_of_(job_of) {}

  /// A joint that is found may show which communicators of another joint are the same.
  std::map<Node, JointSide> run() {
    if (std::ranges::any_of(dump_.ranks, may_have_met_more))
      return {};
    for (int round = 0; round < most_rounds && match(open_sides()); ++round) {
    }
    return std::move(found_);
  }

private:
  std::optional<SideKey> key_of(std::size_t job, const Joint& joint) const {
    if (found_.contains({job, joint.id}))
      return std::nullopt;
    if (joint.base == 0)
      return SideKey{true, false, job, joint.id, 0, {}};
    const auto base = found_.find({job, joint.base});
    if (base == found_.end())
      return SideKey{false, true, job, joint.id, 0, {}};
    return SideKey{true, true, base->second.joint, joint.path, joint.sequence, joint.call};
  }

  std::vector<Side> open_sides() const {
    std::map<SideKey, Side> sides;
    for (std::size_t i = 0; i < dump_.ranks.size(); ++i) {
      const auto clock = clock_of(dump_.ranks[i]);
      const bool meets = is_in_such_a_call(dump_.ranks[i]);
      for (const Joint& joint : dump_.ranks[i].joints)
        if (const auto key = key_of(job_of_[i], joint)) {
          Side& side = sides[*key];
          side.settled = key->settled;
          side.add(i, job_of_[i], joint, clock);
          side.meets_again |= meets;
        }
    }
    std::vector<Side> open;
    for (auto& [key, side] : sides)
      open.push_back(std::move(side));
    return open;
  }

  /// Matches sides that belong together. True: some were found.
  bool match(const std::vector<Side>& sides) {
    using Sizes = std::pair<std::int64_t, std::int64_t>;
    std::map<Sizes, std::vector<const Side*>> alike;
    for (const Side& side : sides)
      alike[std::minmax({side.joint->size, side.joint->remote_size})].push_back(&side);
    bool any = false;
    for (auto& [sizes, some] : alike)
      any |= match_alike(some);
    return any;
  }

  /// Sides that came late are not compared with sides that had left long before: a server may meet
  /// any number of others, one after the other.
  bool match_alike(std::vector<const Side*>& sides) {
    std::ranges::stable_sort(sides, {}, &Side::first);
    const bool one_clock = std::ranges::all_of(
        sides, [&](const Side* side) { return tolerance_of(*sides.front(), *side) == 0; });
    const std::uint64_t tolerance = one_clock ? 0 : clock_difference;
    std::size_t compared = 0;
    constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
    constexpr std::size_t several = none - 1;
    std::vector<std::size_t> partner(sides.size(), none);
    const auto meet = [&](std::size_t one, std::size_t other) {
      partner[one] = partner[one] == none ? other : several;
    };
    for (std::size_t i = 0; i < sides.size(); ++i)
      for (std::size_t j = i + 1;
           j < sides.size() && comes_before_leaving(*sides[j], *sides[i], tolerance); ++j) {
        if (++compared > most_compared)
          return false;
        if (may_have_met(*sides[i], *sides[j])) {
          meet(i, j);
          meet(j, i);
        }
      }
    bool any = false;
    for (std::size_t i = 0; i < sides.size(); ++i) {
      const std::size_t j = partner[i];
      if (j < sides.size() && i < j && partner[j] == i && sides[i]->settled && sides[j]->settled &&
          are_known_to_have_met(*sides[i], *sides[j])) {
        join(*sides[i], *sides[j]);
        any = true;
      }
    }
    return any;
  }

  void join(const Side& one, const Side& other) {
    for (const Node& node : one.nodes)
      found_.emplace(node, JointSide{joints_, 0});
    for (const Node& node : other.nodes)
      found_.emplace(node, JointSide{joints_, 1});
    ++joints_;
  }

  const Dump& dump_;
  const std::vector<std::size_t>& job_of_;
  std::map<Node, JointSide> found_;
  std::size_t joints_ = 0;
};

} // namespace

JointSides::JointSides(const Dump& dump, const std::vector<std::size_t>& job_of)
    : found_(Matching(dump, job_of).run()) {}

std::optional<JointSide> JointSides::find(std::size_t job, std::uint64_t joint) const {
  const auto at = found_.find({job, joint});
  return at == found_.end() ? std::nullopt : std::optional(at->second);
}

} // namespace mqbridge
