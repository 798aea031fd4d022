#include "host/analysis/collective_members.h"

#include "host/analysis/mpi_call.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace mqbridge {
namespace {

const Seat* seat_of(const Process& process, const BlockedCall& call) {
  const auto at = std::ranges::find_if(process.seats, [&](const Seat& seat) {
    return call.communicator && seat.communicator->id == *call.communicator;
  });
  return at == process.seats.end() ? nullptr : &*at;
}

/// The number of the collective that a process is in on a communicator; nullopt: in none.
std::optional<std::int64_t> sequence_on(const Process& process, std::uint32_t key) {
  if (!process.now->blocked_in)
    return std::nullopt;
  for (const BlockedCall& call : *process.now->blocked_in) {
    const Seat* seat = seat_of(process, call);
    if (seat != nullptr && seat->key == key && call.sequence)
      return call.sequence;
  }
  return std::nullopt;
}

/// Which members such a call waits for until they have entered; nullopt: it cannot be said.
std::optional<std::vector<std::int64_t>> ranks_needed(CollectiveKind kind, const BlockedCall& call,
                                                      std::int64_t own, std::int64_t size) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(size));
  std::iota(all.begin(), all.end(), 0);
  switch (kind) {
  case CollectiveKind::everybody:
    return all;
  case CollectiveKind::from_root:
    return call.root ? std::optional(std::vector{*call.root}) : std::nullopt;
  case CollectiveKind::to_root:
    if (!call.root)
      return std::nullopt;
    return call.root == own ? all : std::vector<std::int64_t>();
  case CollectiveKind::chain:
    all.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(own, 0, size)));
    return all;
  case CollectiveKind::none:
  case CollectiveKind::other:
    break;
  }
  return std::nullopt;
}

} // namespace

std::optional<std::pair<std::uint32_t, std::int64_t>>
meeting_of(const JobPicture& picture, std::size_t process, const BlockedCall& call) {
  const Seat* seat = seat_of(picture.process(process), call);
  return seat != nullptr && call.sequence ? std::optional(std::pair(seat->key, *call.sequence))
                                          : std::nullopt;
}

std::optional<std::vector<Partner>>
members_waited_for(const JobPicture& picture, std::size_t process, const BlockedCall& call) {
  const Seat* seat = seat_of(picture.process(process), call);
  if (seat == nullptr || !call.sequence || !call.call || !seat->communicator->local_rank)
    return std::nullopt;
  const auto size = JobPicture::members(*seat->communicator);
  const CollectiveKind kind = kind_of_collective(*call.call);
  const auto needed =
      size ? ranks_needed(kind, call, *seat->communicator->local_rank, *size) : std::nullopt;
  if (!needed)
    return std::nullopt;
  std::vector<Partner> waited;
  for (const std::int64_t rank : *needed) {
    const auto member = picture.member(process, *seat->communicator, rank);
    if (!member)
      return std::nullopt;
    if (member->process == process)
      continue;
    const auto theirs =
        member->process ? sequence_on(picture.process(*member->process), seat->key) : std::nullopt;
    if (theirs && *theirs >= *call.sequence)
      continue;
    // Only where all wait for all nobody has left before the others came.
    if (!theirs && kind != CollectiveKind::everybody)
      return std::nullopt;
    waited.push_back(*member);
  }
  return waited;
}

std::vector<Partner> connected_processes(const JobPicture& picture, std::size_t job) {
  std::set<std::size_t> connected{job};
  std::set<std::pair<std::size_t, std::int64_t>> strangers; // of jobs that the document lacks
  for (std::size_t before = 0; before != connected.size();) {
    before = connected.size();
    for (std::size_t index = 0; index < picture.processes().size(); ++index) {
      const Process& process = picture.process(index);
      if (!connected.contains(process.job))
        continue;
      for (const Seat& seat : process.seats) {
        const Communicator& communicator = *seat.communicator;
        const bool mixed = !communicator.members.empty() || !communicator.remote.members.empty();
        const auto size = mixed ? JobPicture::members(communicator).value_or(0) : 0;
        for (std::int64_t rank = 0; rank < size; ++rank)
          if (const auto member = picture.member(index, communicator, rank)) {
            if (member->job < picture.jobs().size())
              connected.insert(member->job);
            else
              strangers.emplace(member->job, member->rank);
          }
      }
    }
  }
  std::vector<Partner> all;
  std::map<std::size_t, std::int64_t> found;
  for (std::size_t index = 0; index < picture.processes().size(); ++index) {
    const Process& process = picture.process(index);
    if (!connected.contains(process.job))
      continue;
    all.push_back({index, process.job, process.rank});
    ++found[process.job];
  }
  for (const std::size_t each : connected)
    if (picture.sizes()[each] != found[each])
      all.push_back({std::nullopt, each, -1});
  for (const auto& [other, rank] : strangers)
    all.push_back({std::nullopt, other, rank});
  return all;
}

} // namespace mqbridge
