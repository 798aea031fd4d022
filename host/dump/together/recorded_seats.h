#pragma once

#include "host/dump/values/document.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace mqbridge {

/// One communicator of one process that has a recorder.
struct RecordedSeat {
  RankDump* rank = nullptr;
  Communicator* communicator = nullptr;
  std::optional<std::size_t> own_side; ///< nullopt: nobody can tell its members
  std::optional<std::size_t>
      peer_side; ///< the group to which it sends; in an intercommunicator another one

  /// Whether its counters count each message.
  bool counts() const { return communicator->recorded->whole; }
};

/// The recorded communicators of all processes in one look. The seats of one communicator are put
/// together. Refers to the ranks, whose communicators must have keys.
class RecordedSeats {
public:
  explicit RecordedSeats(std::vector<RankDump>& ranks);

  const std::vector<RecordedSeat>& all() const { return seats_; }
  const RecordedSeat& operator[](std::size_t index) const { return seats_[index]; }
  /// Index of the peer's seat; nullopt: it is not there.
  std::optional<std::size_t> peer(const RecordedSeat& seat, std::int64_t local_rank) const;
  /// Whether all of its peers are there, and count.
  bool all_peers_count(const RecordedSeat& seat) const;

private:
  /// The members of a group.
  struct Side {
    std::int64_t size = 0;
    std::unordered_map<std::int64_t, std::size_t> members; ///< seats by local rank
    std::int64_t counting = 0;                             ///< members that count
    bool doubtful = false;                                 ///< two claim the same place
  };

  void add(RankDump& rank, Communicator& communicator);
  std::size_t side(const std::string& name, std::int64_t size);

  std::vector<RecordedSeat> seats_;
  std::vector<Side> sides_;
  std::unordered_map<std::string, std::size_t> by_name_;
};

} // namespace mqbridge
