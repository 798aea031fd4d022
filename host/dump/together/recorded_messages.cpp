#include "host/dump/together/recorded_messages.h"

#include "host/dump/together/recorded_receives.h"
#include "host/dump/together/recorded_seats.h"
#include "host/dump/together/recorded_traffic.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace mqbridge {
namespace {

constexpr std::int64_t counts_end = std::int64_t{1} << 32;
/// The most messages of one look: a damaged count would make billions of them.
constexpr std::size_t most_without_details = 200'000;

/// By sender's local rank and tag.
using MessagesByChannel = std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Operation>>;

/// Removes the messages of an earlier call, and returns them.
MessagesByChannel take_found(Queue& queue) {
  MessagesByChannel found;
  for (Operation& message : queue.operations)
    if (message.source == OpSource::recorder)
      found[{message.peer.local_rank.value_or(-1), message.tag.value.value_or(-1)}].push_back(
          message);
  erase_if(queue.operations,
           [](const Operation& message) { return message.source == OpSource::recorder; });
  return found;
}

class Look {
public:
  Look(std::vector<RankDump>& ranks, std::span<const RankDump> earlier)
      : seats_(ranks), traffic_(recorded_traffic(seats_)), gone_(seats_.all().size()) {
    for (const RankDump& rank : earlier)
      earlier_.emplace(rank.endpoint, &rank);
  }

  void settle() {
    for (std::size_t seat = 0; seat < gone_.size(); ++seat) {
      gone_[seat].resize(queue(seat, OpClass::send).operations.size(), false);
      forget_unseen_peers(seat);
      for (RecordedTraffic& traffic : traffic_[seat])
        traffic.counted = traffic.counted && !is_contradicted(seat, traffic);
    }
    for (std::size_t seat = 0; seat < gone_.size(); ++seat) {
      settle_messages_to(seat);
      set_counters(seat);
    }
    for (std::size_t seat = 0; seat < gone_.size(); ++seat)
      remove_received(seat);
  }

private:
  Queue& queue(std::size_t seat, OpClass op_class) const {
    return seats_[seat].communicator->queue(op_class);
  }

  /// Sends to peers that are not in the document.
  void forget_unseen_peers(std::size_t seat) const {
    for (Operation& send : queue(seat, OpClass::send).operations) {
      const bool to_somebody = send.peer.local_rank && send.peer.local_rank != proc_null;
      if (was_pending(send) && to_somebody && !seats_.peer(seats_[seat], *send.peer.local_rank))
        send.status = OpStatus::unknown;
    }
  }

  /// Whether the receiver had received more in the look before than the sender has counted until
  /// now: then the sender has sent messages that its recorder did not see, as in a callback of the
  /// program.
  bool is_contradicted(std::size_t seat, const RecordedTraffic& traffic) const {
    const auto before = earlier_.find(seats_[seat].rank->endpoint);
    if (before == earlier_.end())
      return false;
    const Communicator& now = *seats_[seat].communicator;
    const auto then = std::ranges::find(before->second->communicators, now.id, &Communicator::id);
    if (then == before->second->communicators.end() || !then->recorded)
      return false;
    const std::int64_t peer = *seats_[traffic.sender].communicator->local_rank;
    return std::ranges::any_of(traffic.tags, [&](const TagTraffic& tag) {
      const std::uint32_t received = channel(*then->recorded, peer, tag.tag).received;
      return static_cast<std::int32_t>(received - tag.sent) > 0;
    });
  }

  void settle_messages_to(std::size_t seat) {
    ReceiveMatching matching(seats_, seat, traffic_[seat]);
    matching.run();
    Queue& unexpected = queue(seat, OpClass::unexpected);
    const auto found = take_found(unexpected);
    std::vector<Operation> messages;
    bool known = matching.sees_all();
    for (std::size_t source = 0; source < traffic_[seat].size(); ++source) {
      const RecordedTraffic& traffic = traffic_[seat][source];
      settle_other_sends(traffic);
      if (!traffic.counted)
        continue;
      for (const TagTraffic& tag : traffic.tags) {
        const auto unmet = matching.unmet(source, tag);
        known = known && unmet.least == unmet.most;
        settle_tag(traffic, tag, unmet, found, messages);
      }
    }
    for (Operation& message : messages)
      message.status = may_be_later(seat, message) ? OpStatus::unknown : OpStatus::pending;
    show(unexpected, std::move(messages), known);
  }

  /// Whether it may have been sent after the receiver's stop, since its sender was stopped later.
  bool may_be_later(std::size_t seat, const Operation& message) const {
    const auto sender = seats_.peer(seats_[seat], message.peer.local_rank.value_or(-1));
    if (!sender)
      return false;
    const auto& received_at = seats_[seat].rank->stopped_at;
    const auto& sent_at = seats_[*sender].rank->stopped_at;
    if (!received_at || !sent_at || *sent_at <= *received_at)
      return false;
    const auto before = earlier_.find(seats_[*sender].rank->endpoint);
    if (before == earlier_.end() || before->second->stopped_at > received_at)
      return true;
    const Communicator& now = *seats_[*sender].communicator;
    const auto then = std::ranges::find(before->second->communicators, now.id, &Communicator::id);
    const std::int64_t peer = *seats_[seat].communicator->local_rank;
    return then == before->second->communicators.end() || !then->recorded ||
           channel(*then->recorded, peer, message.tag.value).sent !=
               channel(*now.recorded, peer, message.tag.value).sent;
  }

  static RecordedChannel channel(const RecordedCommunicator& recorded, std::int64_t peer,
                                 std::optional<std::int64_t> tag) {
    const auto at = std::ranges::find_if(recorded.channels, [&](const RecordedChannel& each) {
      return each.peer == peer && each.tag == tag;
    });
    return at == recorded.channels.end() ? RecordedChannel{peer, tag} : *at;
  }

  /// Sends with tags that are not counted separately.
  void settle_other_sends(const RecordedTraffic& traffic) {
    const bool all_received = traffic.counted && traffic.pooled && traffic.other_tags == 0;
    for (const RecordedSend& send : traffic.sends) {
      if (traffic.counted && traffic.with_tag(*send.operation->tag.value) != nullptr)
        continue;
      if (all_received)
        set_met(traffic, send);
      else if (was_pending(*send.operation))
        send.operation->status = OpStatus::unknown;
    }
  }

  void set_met(const RecordedTraffic& traffic, const RecordedSend& send) {
    if (was_pending(*send.operation))
      send.operation->status = OpStatus::matched;
    else
      gone_[traffic.sender][send.place] = true;
  }

  /// The newest messages are those that have met no receive: earlier ones are met first.
  void settle_tag(const RecordedTraffic& traffic, const TagTraffic& tag,
                  const ReceiveMatching::Unmet& unmet, const MessagesByChannel& found,
                  std::vector<Operation>& messages) {
    const auto sends = traffic.sends_with(tag.tag);
    const std::int64_t sender = *seats_[traffic.sender].communicator->local_rank;
    const auto before = found.find({sender, tag.tag});
    // As many as there were: these are they. The document does not have all sends any more that
    // told which ones they are.
    const bool same =
        unmet.least == unmet.most && before != found.end() && before->second.size() == unmet.least;
    std::set<std::uint32_t> numbers;
    if (same)
      for (const Operation& message : before->second) {
        if (message.sequence)
          numbers.insert(*message.sequence);
        messages.push_back(message);
      }
    std::uint32_t shown = 0;
    for (std::size_t i = 0; i < sends.size(); ++i) {
      const auto place = place_of(traffic, tag, i);
      const bool is_it =
          same && sends[i].operation->sequence && numbers.contains(*sends[i].operation->sequence);
      if (is_it || place.last < unmet.least) {
        if (was_pending(*sends[i].operation))
          sends[i].operation->status = OpStatus::pending;
        if (!same && place.first == place.last) {
          messages.push_back(message_of(traffic, tag.tag, sends[i].operation));
          ++shown;
        }
      } else if (place.first >= unmet.most) {
        set_met(traffic, sends[i]);
      } else if (was_pending(*sends[i].operation)) {
        sends[i].operation->status = OpStatus::unknown;
      }
    }
    if (!same)
      for (; shown < unmet.least && without_details_left_ > 0; ++shown, --without_details_left_)
        messages.push_back(message_of(traffic, tag.tag, nullptr));
  }

  /// `send`: nullptr where its process does not show it any more.
  Operation message_of(const RecordedTraffic& traffic, std::int64_t tag,
                       const Operation* send) const {
    const RecordedSeat& sender = seats_[traffic.sender];
    Operation message;
    message.kind = OpKind::message;
    message.source = OpSource::recorder;
    message.peer.local_rank = sender.communicator->local_rank;
    message.peer.global_rank = sender.rank->world_rank;
    message.tag.value = tag;
    message.length.unit = LengthUnit::unknown;
    if (send != nullptr) {
      message.length = send->length;
      message.sequence = send->sequence;
    }
    return message;
  }

  /// By sender in the order of sending; first messages whose place in this order is not known.
  void show(Queue& unexpected, std::vector<Operation> messages, bool known) const {
    if (unexpected.state == QueueState::not_requested)
      return;
    std::ranges::stable_sort(messages, {}, [](const Operation& message) {
      const std::optional<std::uint32_t> number = message.sequence;
      return std::tuple(*message.peer.local_rank, number ? std::int64_t{*number} : -1);
    });
    for (Operation& message : messages)
      unexpected.operations.push_back(std::move(message));
    if (without_details_left_ == 0)
      unexpected.truncated_by = TruncatedBy::operations;
    if (unexpected.state == QueueState::error || unexpected.truncated_by != TruncatedBy::nothing)
      return;
    unexpected.state = known ? QueueState::available : QueueState::unavailable;
    unexpected.reason = known ? QueueReason::none : QueueReason::senders_unseen;
    unexpected.total.reset();
    if (known)
      unexpected.total = unexpected.operations.size();
  }

  void set_counters(std::size_t seat) const {
    Communicator& communicator = *seats_[seat].communicator;
    communicator.counters.reset();
    if (!seats_[seat].counts())
      return;
    std::map<std::int64_t, PeerCounters> peers;
    for (const RecordedChannel& channel : communicator.recorded->channels) {
      PeerCounters& peer =
          peers.try_emplace(channel.peer, PeerCounters{channel.peer, 0, {}}).first->second;
      peer.sent = (peer.sent.value_or(0) + channel.sent) % counts_end;
      if (const auto other = seats_.peer(seats_[seat], channel.peer);
          other && seats_[*other].counts())
        peer.arrived = 0;
    }
    for (const RecordedTraffic& traffic : traffic_[seat]) {
      const std::int64_t sender = *seats_[traffic.sender].communicator->local_rank;
      if (!traffic.counted) {
        if (const auto known = peers.find(sender); known != peers.end())
          known->second.arrived.reset();
        continue;
      }
      auto& peer = peers.try_emplace(sender, PeerCounters{sender, 0, {}}).first->second;
      peer.arrived = (std::int64_t{traffic.sent} + traffic.beyond) % counts_end;
    }
    MessageCounters counters{counts_end, {}, {}};
    for (const auto& [rank, peer] : peers)
      counters.peers.push_back(peer);
    communicator.counters = std::move(counters);
  }

  void remove_received(std::size_t seat) const {
    Queue& sends = queue(seat, OpClass::send);
    std::size_t place = 0;
    const std::size_t removed =
        erase_if(sends.operations, [&](const Operation&) { return bool(gone_[seat][place++]); });
    if (sends.total)
      *sends.total -= std::min<std::uint64_t>(*sends.total, removed);
  }

  std::map<std::string, const RankDump*> earlier_; ///< by endpoint
  const RecordedSeats seats_;
  std::vector<std::vector<RecordedTraffic>> traffic_; ///< by receiver
  std::vector<std::vector<bool>> gone_; ///< by sender, and by place in its queue of sends
  std::size_t without_details_left_ = most_without_details;
};

} // namespace

void settle_recorded_messages(std::vector<RankDump>& ranks, std::span<const RankDump> earlier) {
  Look(ranks, earlier).settle();
}

} // namespace mqbridge
