#pragma once

#include "host/analysis/job_picture.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace mqbridge {

/// The messages on their way from one process to another on one communicator.
enum class Traffic : std::uint8_t {
  unknown, ///< one of the two does not count its messages, or was not read
  none,    ///< all messages that were sent have arrived
  came,    ///< the same, and something came between two looks
  moving,  ///< some messages are in flight
  stuck,   ///< the same messages are in flight in both looks
};

/// The channels of a job by the counters at both ends (Communicator::counters). Refers to the
/// picture. docs/verdict.md explains what the counters prove, although the processes were stopped
/// one after the other.
class Channels {
public:
  explicit Channels(const JobPicture& picture);

  /// From `sender` to the process of the seat, on its communicator.
  Traffic traffic(std::size_t sender, const Seat& seat) const;
  /// Whether the message with this number in the sender's count has arrived at the receiver;
  /// nullopt: that is not known.
  std::optional<bool> arrived(std::size_t sender, const Seat& seat,
                              std::optional<std::uint32_t> sequence) const;
  /// By process: others have counted more messages from it than it had sent at its stop. So it has
  /// gone on since.
  std::vector<bool> gone_on() const;
  /// From any process to `receiver`: `moving` if one channel is, else `stuck`, else `came`, else
  /// `unknown`.
  Traffic traffic_to(std::size_t receiver, const Seat& seat) const;

private:
  struct End {
    std::optional<std::int64_t> now;
    std::optional<std::int64_t>
        before; ///< nullopt: there is no look before, or the count was not known there
  };
  struct Ends {
    End sent, arrived;
    std::int64_t modulus = 0;
  };

  static End sent_by(const Seat& sender, std::int64_t to);
  static End arrived_at(const Seat& receiver, std::int64_t from);
  std::optional<Ends> ends(std::size_t sender, const Seat& seat) const;
  Traffic judge(const Ends& ends) const;

  const JobPicture& picture_;
  /// By communicator and receiver: the processes that have sent something to it.
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> senders_;
};

} // namespace mqbridge
