#pragma once

#include "host/dump/together/recorded_seats.h"

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
  std::uint32_t received = 0;    ///< the receiver's program knows of them
  std::uint32_t outstanding = 0; ///< sent and not received
};

/// The messages from one seat to another, as both have counted them at their own stops.
struct RecordedTraffic {
  std::size_t sender = 0;
  bool counted = true;          ///< both ends count; if not, only `sends` is known
  std::uint32_t sent = 0;       ///< in all
  std::uint32_t beyond = 0;     ///< messages received that the sender had not sent yet at its stop
  bool pooled = false;          ///< an end counts some tags together, which are not in `tags`
  std::uint32_t other_tags = 0; ///< outstanding messages with such tags
  std::vector<TagTraffic> tags; ///< by tag
  std::vector<RecordedSend> sends; ///< by tag, and the newest first
  std::uint32_t unbroken = 0;      ///< so many of the newest messages are all in `sends`

  const TagTraffic* with_tag(std::int64_t tag) const;
  std::span<const RecordedSend> sends_with(std::int64_t tag) const;
};

/// The range of places in which a send may be, counted from the newest message of its tag.
struct SendPlace {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};
/// `index`: among the sends with this tag.
SendPlace place_of(const RecordedTraffic& traffic, const TagTraffic& tag, std::size_t index);

/// For each seat, by index: its incoming traffic, by sender. Senders without any are left out.
std::vector<std::vector<RecordedTraffic>> recorded_traffic(const RecordedSeats& seats);

/// A send that has returned to the program; only its message is of interest.
bool has_returned(const Operation& send);
/// Whether its own process's recorder took the operation for pending, whatever is known by now. A
/// receive of a message that MPI_Mprobe has taken is not: that message counts as received.
bool was_pending(const Operation& operation);

} // namespace mqbridge
