#include "host/dump/together/recorded_seats.h"

#include <algorithm>
#include <fmt/format.h>

namespace mqbridge {
namespace {

/// The first member tells the two groups of an intercommunicator apart: they have none in common.
std::optional<std::string> first_of(const RankDump& rank, const RankList& ranks,
                                    const std::vector<Member>& members) {
  if (!members.empty())
    return fmt::format("{}:{}", members.front().job, members.front().rank);
  if (!ranks || ranks->empty())
    return std::nullopt;
  return fmt::format("{}:{}", rank.job_id.value_or(""), ranks->front());
}

} // namespace

RecordedSeats::RecordedSeats(std::vector<RankDump>& ranks) {
  for (RankDump& rank : ranks)
    for (Communicator& communicator : rank.communicators)
      if (communicator.recorded)
        add(rank, communicator);
}

void RecordedSeats::add(RankDump& rank, Communicator& communicator) {
  RecordedSeat seat{&rank, &communicator, {}, {}};
  const bool known = communicator.context && communicator.local_rank && !communicator.key.empty();
  if (known && communicator.kind != CommunicatorKind::inter) {
    seat.own_side = seat.peer_side = side(communicator.key, communicator.size);
  } else if (known) {
    const Group& remote = communicator.remote;
    const auto own = first_of(rank, communicator.group, communicator.members);
    const auto other = first_of(rank, remote.ranks, remote.members);
    if (own && other && own != other) {
      const auto others = remote.members.empty() ? remote.ranks->size() : remote.members.size();
      seat.own_side = side(communicator.key + " " + *own, communicator.size);
      seat.peer_side = side(communicator.key + " " + *other, static_cast<std::int64_t>(others));
    }
  }
  if (seat.own_side) {
    Side& own = sides_[*seat.own_side];
    own.doubtful |= !own.members.emplace(*communicator.local_rank, seats_.size()).second;
    own.counting += seat.counts() ? 1 : 0;
  }
  seats_.push_back(seat);
}

std::size_t RecordedSeats::side(const std::string& name, std::int64_t size) {
  const auto [at, is_new] = by_name_.emplace(name, sides_.size());
  if (is_new)
    sides_.push_back({size, {}, 0, false});
  return at->second;
}

std::optional<std::size_t> RecordedSeats::peer(const RecordedSeat& seat,
                                               std::int64_t local_rank) const {
  if (!seat.peer_side || sides_[*seat.peer_side].doubtful)
    return std::nullopt;
  const auto& members = sides_[*seat.peer_side].members;
  const auto at = members.find(local_rank);
  return at == members.end() ? std::nullopt : std::optional(at->second);
}

bool RecordedSeats::all_peers_count(const RecordedSeat& seat) const {
  if (!seat.peer_side)
    return false;
  const Side& side = sides_[*seat.peer_side];
  return !side.doubtful && side.counting == side.size &&
         std::cmp_equal(side.members.size(), side.size);
}

} // namespace mqbridge
