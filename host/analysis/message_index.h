#pragma once

#include "host/mqs/queues.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace mqbridge {

/// The unexpected messages of one communicator of one process, for look-ups.
class ArrivedMessages {
public:
  explicit ArrivedMessages(const Communicator& communicator);

  /// Whether a message has come from this rank with this number in the sender's count; without
  /// numbers, with this tag.
  bool has(std::int64_t sender, std::optional<std::uint32_t> sequence, MaybeInt tag) const;
  /// MPI_Mprobe has taken a message of this rank and tag, and it has not been received.
  bool holds(std::int64_t sender, MaybeInt tag) const {
    return tag && held_.contains({sender, *tag});
  }
  /// Whether there is a message that the receive would take.
  bool has_for(const Operation& receive) const;

private:
  std::int64_t modulus_ = 0;
  bool numbered_ = true;
  std::unordered_set<std::uint64_t> numbers_;            ///< sender and sequence
  std::unordered_set<std::uint64_t> tagged_;             ///< sender and tag
  std::set<std::pair<std::int64_t, std::int64_t>> held_; ///< sender and tag
  std::unordered_set<std::int64_t> senders_;             ///< of the program's messages
  std::unordered_set<std::int64_t> tags_;                ///< of the program's messages
};

/// The receives of one communicator of one process that have met no message, for look-ups.
class PostedReceives {
public:
  explicit PostedReceives(const Communicator& communicator);

  /// Whether there is a receive that a message of this rank and tag would meet. `collective`: a
  /// message of the MPI itself.
  bool has_for(std::int64_t sender, MaybeInt tag, bool collective) const;

private:
  std::unordered_set<std::uint64_t> exact_;          ///< sender and tag
  std::unordered_set<std::int64_t> senders_;         ///< with any tag
  std::unordered_set<std::int64_t> tags_;            ///< from anybody
  std::unordered_set<std::int64_t> collective_tags_; ///< the MPI's own, from anybody
  bool anything_ = false;
};

/// The sends and receives of one communicator of one recorded process that have met each other.
class MetOperations {
public:
  explicit MetOperations(const Communicator& communicator);
  bool has(OpClass op_class, const Operation& operation) const;

private:
  std::unordered_set<std::uint64_t> sends_; ///< receiver and sequence
  std::unordered_set<std::uint32_t> receives_;
};

/// One index for each communicator that somebody asked about. The communicators outlive it.
template <class Index>
class IndexOfEach {
public:
  const Index& of(const Communicator& communicator) {
    auto& known = known_[&communicator];
    if (!known)
      known = std::make_unique<Index>(communicator);
    return *known;
  }

private:
  std::unordered_map<const Communicator*, std::unique_ptr<Index>> known_;
};

} // namespace mqbridge
