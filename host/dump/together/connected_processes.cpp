#include "host/dump/together/connected_processes.h"

#include "host/dump/together/joint_sides.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

namespace mqbridge {
namespace {

/// A number that differs from those of other communicators of the same process.
std::uint64_t mixed(std::uint64_t joint, std::uint64_t path) {
  return (joint * 0x9e3779b97f4a7c15ULL) ^ path;
}

/// A member, by the number of its job.
struct Place {
  std::size_t job = 0;
  std::int64_t rank = 0;
  bool operator==(const Place&) const = default;
};

/// One group of a communicator, put together from its members' reports: each member knows the ranks
/// of its own job.
class Places {
public:
  void add(std::size_t job, const std::vector<std::int64_t>& ranks) {
    if (known_.empty())
      known_.resize(ranks.size());
    doubtful_ |= known_.size() != ranks.size();
    for (std::size_t i = 0; i < ranks.size() && !doubtful_; ++i) {
      if (ranks[i] < 0)
        continue;
      const Place place{job, ranks[i]};
      doubtful_ |= known_[i] && *known_[i] != place;
      known_[i] = place;
    }
  }

  bool doubtful() const { return doubtful_; }
  /// All processes; empty: not all of them are known.
  std::vector<Place> all() const {
    std::vector<Place> places;
    for (const auto& place : known_)
      if (place)
        places.push_back(*place);
    return doubtful_ || places.size() != known_.size() ? std::vector<Place>() : places;
  }

private:
  std::vector<std::optional<Place>> known_;
  bool doubtful_ = false; ///< they contradict each other
};

/// A communicator that its members got from one joint.
struct Known {
  std::array<Places, 2> groups; ///< of an intracommunicator one
};

class Connection {
public:
  Connection(Dump& dump, const std::vector<std::size_t>& job_of)
      : dump_(dump), job_of_(job_of), sides_(dump, job_of) {
    for (std::size_t i = 0; i < dump.ranks.size(); ++i)
      names_.emplace(job_of[i], dump.ranks[i].job_id.value_or(""));
  }

  void run() {
    each([this](std::size_t i, Communicator& communicator) { collect(i, communicator); });
    each([this](std::size_t i, Communicator& communicator) { complete(i, communicator); });
  }

private:
  template <class Do>
  void each(const Do& what) {
    for (std::size_t i = 0; i < dump_.ranks.size(); ++i)
      for (Communicator& communicator : dump_.ranks[i].communicators)
        if (communicator.joined)
          what(i, communicator);
  }

  /// Which of the two groups is the local one.
  static std::size_t own_group(const Communicator& communicator, const JointSide& side) {
    return communicator.kind == CommunicatorKind::inter ? side.side : 0;
  }

  void collect(std::size_t i, const Communicator& communicator) {
    const auto side = sides_.find(job_of_[i], communicator.joined->joint);
    if (!side)
      return;
    Known& known = known_[{side->joint, communicator.joined->path}];
    const std::size_t own = own_group(communicator, *side);
    known.groups[own].add(job_of_[i], communicator.joined->group);
    if (communicator.kind == CommunicatorKind::inter)
      known.groups[1 - own].add(job_of_[i], communicator.joined->remote_group);
  }

  void complete(std::size_t i, Communicator& communicator) {
    const Joined& joined = *communicator.joined;
    const auto side = sides_.find(job_of_[i], joined.joint);
    // Within a job its members agree on the id.
    communicator.context = mixed(side ? side->joint + 1 : joined.joint, joined.path);
    if (!side) {
      forget_members(communicator);
      return;
    }
    const Known& known = known_.at({side->joint, joined.path});
    if (known.groups[0].doubtful() || known.groups[1].doubtful()) {
      communicator.context.reset(); // it may be several
      forget_members(communicator);
      return;
    }
    const std::size_t own = own_group(communicator, *side);
    give(i, known.groups[own].all(), communicator.group, communicator.members);
    if (communicator.kind == CommunicatorKind::inter)
      give(i, known.groups[1 - own].all(), communicator.remote.ranks, communicator.remote.members);
  }

  /// Forgets members that were found when fewer processes were in the document: another side seemed
  /// to be the only one then.
  static void forget_members(Communicator& communicator) {
    communicator.members.clear();
    communicator.remote.members.clear();
  }

  /// Sets ranks alone if all are of this process's job.
  void give(std::size_t i, const std::vector<Place>& places, RankList& ranks,
            std::vector<Member>& members) const {
    ranks.reset();
    members.clear();
    const bool own_job =
        std::ranges::all_of(places, [&](const Place& place) { return place.job == job_of_[i]; });
    for (const Place& place : places) {
      if (own_job)
        ranks.grow().push_back(place.rank);
      else
        members.push_back({names_.at(place.job), place.rank});
    }
  }

  Dump& dump_;
  const std::vector<std::size_t>& job_of_;
  const JointSides sides_;
  std::map<std::size_t, std::string> names_;                     ///< of jobs, by number
  std::map<std::pair<std::size_t, std::uint64_t>, Known> known_; ///< by joint and path
};

} // namespace

void connect_processes(Dump& dump, const std::vector<std::size_t>& job_of) {
  const bool any =
      std::ranges::any_of(dump.ranks, [](const RankDump& rank) { return !rank.joints.empty(); });
  if (any)
    Connection(dump, job_of).run();
}

} // namespace mqbridge
