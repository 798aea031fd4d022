#include "host/analysis/channels.h"

#include <algorithm>
#include <array>

namespace mqbridge {
namespace {

std::uint64_t place(std::size_t receiver, std::uint32_t key) {
  return (std::uint64_t{key} << 32) | receiver;
}

/// Nobody lists a peer without traffic.
const PeerCounters* peer_of(const MessageCounters& counters, std::int64_t peer) {
  const auto at = std::ranges::lower_bound(counters.peers, peer, {}, &PeerCounters::peer);
  return at == counters.peers.end() || at->peer != peer ? nullptr : &*at;
}

std::optional<std::int64_t> count(const Communicator* communicator, std::int64_t peer,
                                  MaybeInt PeerCounters::*which) {
  if (communicator == nullptr || !communicator->counters)
    return std::nullopt;
  const auto* counters = peer_of(*communicator->counters, peer);
  return counters == nullptr ? std::optional(std::int64_t{0})
                             : std::optional<std::int64_t>(counters->*which);
}

std::int64_t difference(std::int64_t from, std::int64_t to, std::int64_t modulus) {
  return ((to - from) % modulus + modulus) % modulus;
}

} // namespace

Channels::Channels(const JobPicture& picture) : picture_(picture) {
  for (std::size_t sender = 0; sender < picture.processes().size(); ++sender)
    for (const Seat& seat : picture.process(sender).seats) {
      if (!seat.communicator->counters)
        continue;
      for (const PeerCounters& peer : seat.communicator->counters->peers) {
        const auto receiver = picture.member(sender, *seat.communicator, peer.peer);
        if (receiver && receiver->process && peer.sent != 0)
          senders_[place(*receiver->process, seat.key)].push_back(sender);
      }
    }
}

Channels::End Channels::sent_by(const Seat& sender, std::int64_t to) {
  return {count(sender.communicator, to, &PeerCounters::sent),
          count(sender.before, to, &PeerCounters::sent)};
}

Channels::End Channels::arrived_at(const Seat& receiver, std::int64_t from) {
  return {count(receiver.communicator, from, &PeerCounters::arrived),
          count(receiver.before, from, &PeerCounters::arrived)};
}

/// Each end has its counters under the other end's rank in its own group.
std::optional<Channels::Ends> Channels::ends(std::size_t sender, const Seat& seat) const {
  const Seat* other = picture_.seat(sender, seat.key);
  if (other == nullptr || !other->communicator->local_rank || !seat.communicator->local_rank)
    return std::nullopt;
  Ends ends;
  ends.sent = sent_by(*other, *seat.communicator->local_rank);
  ends.arrived = arrived_at(seat, *other->communicator->local_rank);
  if (!ends.sent.now || !ends.arrived.now)
    return std::nullopt;
  ends.modulus = seat.communicator->counters->modulus;
  if (ends.modulus <= 1 || other->communicator->counters->modulus != ends.modulus)
    return std::nullopt;
  return ends;
}

Traffic Channels::judge(const Ends& ends) const {
  const auto moved = [](const End& end) { return end.before && end.before != end.now; };
  const bool has_moved = moved(ends.sent) || moved(ends.arrived);
  if (difference(*ends.arrived.now, *ends.sent.now, ends.modulus) == 0)
    return has_moved ? Traffic::came : Traffic::none;
  return !has_moved && ends.sent.before && ends.arrived.before ? Traffic::stuck : Traffic::moving;
}

std::vector<bool> Channels::gone_on() const {
  std::vector<bool> gone_on(picture_.processes().size(), false);
  for (std::size_t receiver = 0; receiver < gone_on.size(); ++receiver)
    for (const Seat& seat : picture_.process(receiver).seats) {
      if (!seat.communicator->counters)
        continue;
      for (const PeerCounters& peer : seat.communicator->counters->peers) {
        const auto sender = picture_.member(receiver, *seat.communicator, peer.peer);
        const auto found = sender && sender->process ? ends(*sender->process, seat) : std::nullopt;
        if (found &&
            difference(*found->arrived.now, *found->sent.now, found->modulus) > found->modulus / 2)
          gone_on[*sender->process] = true;
      }
    }
  return gone_on;
}

Traffic Channels::traffic(std::size_t sender, const Seat& seat) const {
  const auto found = ends(sender, seat);
  return found ? judge(*found) : Traffic::unknown;
}

std::optional<bool> Channels::arrived(std::size_t sender, const Seat& seat,
                                      std::optional<std::uint32_t> sequence) const {
  const auto found = ends(sender, seat);
  if (!found || !sequence)
    return std::nullopt;
  const auto before_it = difference(*sequence, *found->arrived.now, found->modulus);
  return before_it < found->modulus / 2;
}

Traffic Channels::traffic_to(std::size_t receiver, const Seat& seat) const {
  constexpr std::array in_order = {Traffic::none, Traffic::unknown, Traffic::came, Traffic::stuck,
                                   Traffic::moving};
  auto most = in_order.begin();
  // A receiver that has counted messages of a sender without counts is moving, too: the sender was
  // stopped before they were sent.
  const auto look_at = [&](std::size_t sender) {
    most = std::max(most, std::ranges::find(in_order, traffic(sender, seat)));
  };
  if (const auto at = senders_.find(place(receiver, seat.key)); at != senders_.end())
    for (const std::size_t sender : at->second)
      look_at(sender);
  if (seat.communicator->counters)
    for (const PeerCounters& peer : seat.communicator->counters->peers) {
      const auto sender = picture_.member(receiver, *seat.communicator, peer.peer);
      if (sender && sender->process)
        look_at(*sender->process);
    }
  return *most;
}

} // namespace mqbridge
