#include "host/dump/together/communicator_keys.h"

#include "host/dump/together/connected_processes.h"
#include "host/mpi/mpi_support.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <optional>
#include <string>

namespace mqbridge {
namespace {

constexpr auto no_job = std::numeric_limits<std::size_t>::max();

/// The members of one side, the same seen from each of its processes.
struct KeySide {
  std::size_t job = no_job;    ///< of all of them
  RankList ranks;              ///< in that job
  std::vector<Member> members; ///< where they are of several jobs, or of one that is not here
  auto operator<=>(const KeySide&) const = default;
};

/// Identifies a communicator on all of its ranks. If the provider tells a context id, it is the
/// context id and the members, since communicators without a common process may have the same id.
/// The name does not count then: MPI_Comm_set_name changes it on one rank alone. Without a context
/// id it is the name, and the index among communicators of the same name in the process's list.
struct Identity {
  std::optional<std::uint64_t> context;
  std::vector<KeySide> sides;       ///< of an intercommunicator two, in order
  std::optional<std::size_t> owner; ///< the rank that alone knows its members
  std::string name;
  std::int64_t size = 0;
  int occurrence = 0;
  auto operator<=>(const Identity&) const = default;
};

class Identities {
public:
  Identities(const Dump& dump, const std::vector<std::size_t>& job_of)
      : dump_(dump), job_of_(job_of) {
    for (std::size_t i = 0; i < dump.ranks.size(); ++i)
      if (dump.ranks[i].job_id)
        jobs_.emplace(*dump.ranks[i].job_id, job_of[i]);
  }

  Identity identify(std::size_t i, const Communicator& communicator) const {
    Identity identity{communicator.context, {}, {}, {}, communicator.size, 0};
    if (!communicator.context)
      identity.name = communicator.name;
    const auto own = side(i, communicator.group, communicator.members);
    const bool inter = communicator.kind == CommunicatorKind::inter;
    const auto other = side(i, communicator.remote.ranks, communicator.remote.members);
    if (own && (other || !inter)) {
      identity.sides.push_back(*own);
      if (inter)
        identity.sides.push_back(*other);
      std::ranges::sort(identity.sides);
      if (inter)
        identity.size = 0; // each side says its own
    } else if (communicator.joined ? communicator.context.has_value()
                                   : is_one_at_a_time(dump_.ranks[i], communicator)) {
      identity.sides.push_back({job_of_[i], {}, {}});
    } else {
      identity.owner = i;
    }
    return identity;
  }

private:
  std::optional<KeySide> side(std::size_t i, const RankList& ranks,
                              const std::vector<Member>& members) const {
    if (ranks)
      return KeySide{job_of_[i], ranks, {}};
    if (members.empty())
      return std::nullopt;
    const auto job = jobs_.find(members.front().job);
    const bool one_job = std::ranges::all_of(
        members, [&](const Member& member) { return member.job == members.front().job; });
    if (job == jobs_.end() || !one_job)
      return KeySide{no_job, {}, members};
    KeySide made{job->second, {}, {}};
    for (const Member& member : members)
      made.ranks.grow().push_back(member.rank);
    return made;
  }

  /// Whether a communicator of this context id and size, with unknown members, is the only one in
  /// its job. MPI_COMM_WORLD is. So is one with more than half of the job, since two of these have
  /// a common process, where context ids differ. With intercommunicators, members may be of other
  /// jobs, and that proves nothing. Without a context id there is only the name.
  static bool is_one_at_a_time(const RankDump& rank, const Communicator& communicator) {
    if (communicator.size <= 1 || !communicator.context)
      return communicator.size > 1;
    const auto& support =
        rank.dll ? support_of(rank.dll->provider) : support_named(rank.mpi ? rank.mpi->name : "");
    if (support.facts().world_is_certain && support.is_world(communicator))
      return true;
    return rank.world_size && communicator.size <= *rank.world_size &&
           communicator.size > *rank.world_size / 2 &&
           std::ranges::none_of(rank.communicators, [](const Communicator& each) {
             return each.kind == CommunicatorKind::inter;
           });
  }

  const Dump& dump_;
  const std::vector<std::size_t>& job_of_;
  std::map<std::string, std::size_t> jobs_; ///< by job_id
};

} // namespace

void name_communicators(Dump& dump, const std::vector<std::size_t>& job_of) {
  connect_processes(dump, job_of);
  const Identities identities(dump, job_of);
  std::map<Identity, std::string> keys;
  std::size_t next = 1;
  // Communicators of one process alone (MPI_COMM_SELF) come last: there is one for each rank.
  for (const bool alone : {false, true}) {
    for (std::size_t i = 0; i < dump.ranks.size(); ++i) {
      std::map<Identity, int> occurrence;
      for (auto& communicator : dump.ranks[i].communicators) {
        const bool is_alone =
            communicator.size <= 1 && communicator.kind != CommunicatorKind::inter;
        if (is_alone != alone)
          continue;
        auto identity = identities.identify(i, communicator);
        const int place = occurrence[identity]++;
        identity.occurrence = place;
        auto& key = keys[identity];
        if (key.empty())
          key = fmt::format("C{}", next++);
        communicator.key = key;
      }
    }
  }
}

void name_communicators(Dump& dump, bool joined) {
  std::map<std::string, std::size_t> numbers;
  for (const RankDump& rank : dump.ranks)
    numbers.try_emplace(rank.job_id.value_or(""), numbers.size());
  std::vector<std::size_t> job_of;
  std::size_t next = numbers.size();
  for (const RankDump& rank : dump.ranks) {
    // If the names of two jobs are not known, their joints may have the same ids.
    const bool apart = joined && !rank.job_id && !rank.joints.empty();
    job_of.push_back(apart ? next++ : numbers.at(rank.job_id.value_or("")));
  }
  name_communicators(dump, job_of);
}

} // namespace mqbridge
