#pragma once

#include "host/dump/recorded_seats.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace mqbridge {

/// A send that its process still shows: pending, or one of the last that have returned.
struct RecordedSend {
  Operation* operation = nullptr;
  std::size_t place = 0; ///< in its queue
  std::uint32_t age = 0; ///< messages that the sender has sent there after it
};

/// Messages with one tag.
struct TagTraffic {
  std::int64_t tag = 0;
  std::uint32_t sent = 0;        ///< modulo 2^32, and so are all counts
  std::uint32_t received = 0;    ///< of which the receiver's program knows
  std::uint32_t outstanding = 0; ///< sent and not received
};

/// What one seat has sent to another one, as both of them have counted it at their own stops.
struct RecordedTraffic {
  std::size_t sender = 0;
  bool counted = true;             ///< by both; else nothing else here is known but `sends`
  std::uint32_t sent = 0;          ///< in all
  std::uint32_t beyond = 0;        ///< received, and not sent yet when the sender was seen
  bool pooled = false;             ///< some tags are not in `tags`: an end counts them together
  std::uint32_t other_tags = 0;    ///< outstanding ones of these
  std::vector<TagTraffic> tags;    ///< by tag
  std::vector<RecordedSend> sends; ///< by tag, and the newest first
  std::uint32_t unbroken = 0;      ///< so many of the newest messages are all among `sends`

  const TagTraffic* with_tag(std::int64_t tag) const;
  std::span<const RecordedSend> sends_with(std::int64_t tag) const;
};

/// Between which places, counted from the newest message of its tag on, a send stands.
struct SendPlace {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};
/// `index`: of the sends with this tag.
SendPlace place_of(const RecordedTraffic& traffic, const TagTraffic& tag, std::size_t index);

/// The traffic to each seat, by index; by sender. Senders without any are left out.
std::vector<std::vector<RecordedTraffic>> recorded_traffic(const RecordedSeats& seats);

/// A send that has returned to the program, and of which only its message is left.
bool has_returned(const Operation& send);
/// A send or receive that was pending as far as its own process's recorder could tell, whatever is
/// known of it now. Not so a receive of what MPI_Mprobe has taken: that counts as received.
bool was_pending(const Operation& operation);

} // namespace mqbridge
