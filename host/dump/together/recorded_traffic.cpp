#include "host/dump/together/recorded_traffic.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace mqbridge {
namespace {

/// One channel, as one of its ends counts.
struct Count {
  std::size_t sender = 0;
  std::optional<std::int64_t> tag; ///< nullopt: all without a channel of their own
  std::uint32_t sent = 0;
  std::uint32_t received = 0;
  bool from_sender = false;
};

struct SendTo {
  std::size_t sender = 0;
  RecordedSend send;
};

/// The counts of both ends for the channels to one seat.
struct Collected {
  std::vector<Count> counts;
  std::vector<SendTo> sends;
};

std::vector<Collected> collect(const RecordedSeats& seats) {
  std::vector<Collected> collected(seats.all().size());
  for (std::size_t seat = 0; seat < collected.size(); ++seat) {
    Communicator& communicator = *seats[seat].communicator;
    for (const RecordedChannel& channel : communicator.recorded->channels) {
      const auto peer = seats.peer(seats[seat], channel.peer);
      if (peer && channel.sent != 0)
        collected[*peer].counts.push_back({seat, channel.tag, channel.sent, 0, true});
      if (peer && channel.received != 0)
        collected[seat].counts.push_back({*peer, channel.tag, 0, channel.received, false});
    }
    auto& sends = communicator.queue(OpClass::send).operations;
    for (std::size_t i = 0; i < sends.size(); ++i) {
      Operation& send = sends[i];
      if (!send.peer.local_rank || !send.tag.value || !(was_pending(send) || has_returned(send)))
        continue;
      if (const auto peer = seats.peer(seats[seat], *send.peer.local_rank))
        collected[*peer].sends.push_back({seat, {&send, i, 0}});
    }
  }
  return collected;
}

/// At each end a tag has a channel of its own or is among the others, and never changes between
/// these. So if both ends have a channel for it, they count the same messages.
void add_counts(RecordedTraffic& traffic, std::span<const Count> counts) {
  traffic.pooled =
      std::ranges::any_of(counts, [](const Count& count) { return !count.tag.has_value(); });
  std::uint32_t rest_sent = 0;
  std::uint32_t rest_received = 0;
  for (std::size_t i = 0; i < counts.size();) {
    TagTraffic tag;
    bool at_sender = false;
    bool at_receiver = false;
    const auto first = counts[i].tag;
    for (; i < counts.size() && counts[i].tag == first; ++i) {
      tag.sent += counts[i].sent;
      tag.received += counts[i].received;
      (counts[i].from_sender ? at_sender : at_receiver) = true;
    }
    traffic.sent += tag.sent;
    if (!first || (traffic.pooled && !(at_sender && at_receiver))) {
      rest_sent += tag.sent;
      rest_received += tag.received;
      continue;
    }
    tag.tag = *first;
    const auto difference = static_cast<std::int32_t>(tag.sent - tag.received);
    if (difference > 0)
      tag.outstanding = static_cast<std::uint32_t>(difference);
    else
      traffic.beyond += tag.received - tag.sent;
    traffic.tags.push_back(tag);
  }
  const auto rest = static_cast<std::int32_t>(rest_sent - rest_received);
  if (rest > 0)
    traffic.other_tags = static_cast<std::uint32_t>(rest);
  else
    traffic.beyond += rest_received - rest_sent;
}

/// Sends are numbered by the sender, whatever their tags.
void add_sends(RecordedTraffic& traffic, std::span<const SendTo> sends) {
  std::vector<std::uint32_t> ages;
  for (const SendTo& each : sends) {
    RecordedSend send = each.send;
    const std::optional<std::uint32_t> number = send.operation->sequence;
    send.age = number ? traffic.sent - 1 - *number : std::numeric_limits<std::uint32_t>::max();
    ages.push_back(send.age);
    traffic.sends.push_back(send);
  }
  std::ranges::sort(ages);
  while (traffic.unbroken < ages.size() && ages[traffic.unbroken] == traffic.unbroken)
    ++traffic.unbroken;
  std::ranges::stable_sort(traffic.sends, [](const RecordedSend& one, const RecordedSend& other) {
    return std::tuple(*one.operation->tag.value, one.age) <
           std::tuple(*other.operation->tag.value, other.age);
  });
}

std::vector<RecordedTraffic> traffic_to(const RecordedSeats& seats, std::size_t receiver,
                                        Collected collected) {
  auto& [counts, sends] = collected;
  std::ranges::stable_sort(counts, {},
                           [](const Count& count) { return std::tuple(count.sender, count.tag); });
  std::ranges::stable_sort(sends, {}, &SendTo::sender);
  std::vector<RecordedTraffic> all;
  for (std::size_t i = 0, j = 0; i < counts.size() || j < sends.size();) {
    constexpr auto nobody = std::numeric_limits<std::size_t>::max();
    const std::size_t sender = std::min(i < counts.size() ? counts[i].sender : nobody,
                                        j < sends.size() ? sends[j].sender : nobody);
    const std::size_t first_count = i;
    const std::size_t first_send = j;
    while (i < counts.size() && counts[i].sender == sender)
      ++i;
    while (j < sends.size() && sends[j].sender == sender)
      ++j;
    RecordedTraffic& traffic = all.emplace_back();
    traffic.sender = sender;
    traffic.counted = seats[sender].counts() && seats[receiver].counts();
    add_counts(traffic, std::span(counts).subspan(first_count, i - first_count));
    add_sends(traffic, std::span(sends).subspan(first_send, j - first_send));
  }
  return all;
}

} // namespace

const TagTraffic* RecordedTraffic::with_tag(std::int64_t tag) const {
  const auto at = std::ranges::lower_bound(tags, tag, {}, &TagTraffic::tag);
  return at == tags.end() || at->tag != tag ? nullptr : &*at;
}

std::span<const RecordedSend> RecordedTraffic::sends_with(std::int64_t tag) const {
  const auto tag_of = [](const RecordedSend& send) { return *send.operation->tag.value; };
  return {std::ranges::lower_bound(sends, tag, {}, tag_of),
          std::ranges::upper_bound(sends, tag, {}, tag_of)};
}

SendPlace place_of(const RecordedTraffic& traffic, const TagTraffic& tag, std::size_t index) {
  const auto sends = traffic.sends_with(tag.tag);
  const auto first = static_cast<std::uint32_t>(index);
  if (sends[index].age < traffic.unbroken)
    return {first, first};
  const auto shown = static_cast<std::uint32_t>(sends.size());
  return {first,
          tag.sent < shown ? std::numeric_limits<std::uint32_t>::max() : tag.sent - shown + first};
}

std::vector<std::vector<RecordedTraffic>> recorded_traffic(const RecordedSeats& seats) {
  auto collected = collect(seats);
  std::vector<std::vector<RecordedTraffic>> all;
  for (std::size_t seat = 0; seat < collected.size(); ++seat)
    all.push_back(traffic_to(seats, seat, std::move(collected[seat])));
  return all;
}

bool has_returned(const Operation& send) {
  return send.status == OpStatus::complete && !send.request;
}

bool was_pending(const Operation& operation) {
  const bool of_mprobe =
      operation.call && (*operation.call == "MPI_Imrecv" || *operation.call == "MPI_Mrecv");
  return operation.status != OpStatus::inactive && operation.status != OpStatus::complete &&
         operation.collective == Collective::none && !of_mprobe;
}

} // namespace mqbridge
