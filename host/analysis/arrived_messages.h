#pragma once

#include "host/mqs/queues.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace mqbridge {

/// Whether a queue has everything that there is: what it does not show is not there.
bool is_whole(const Queue& queue);

/// The unexpected messages of one communicator of one process, to be looked up.
class ArrivedMessages {
public:
  explicit ArrivedMessages(const Communicator& communicator);

  /// From this rank with this number of the sender's count, or without numbers with this tag.
  bool has(std::int64_t sender, std::optional<std::uint32_t> sequence, MaybeInt tag) const;
  /// One that a receive would take.
  bool has_for(const Operation& receive) const;

private:
  std::int64_t modulus_ = 0;
  bool numbered_ = true;
  std::unordered_set<std::uint64_t> numbers_; ///< sender and sequence
  std::unordered_set<std::uint64_t> tagged_;  ///< sender and tag
  std::unordered_set<std::int64_t> senders_;  ///< of the program's messages
  std::unordered_set<std::int64_t> tags_;     ///< of the program's messages
};

/// Of all communicators that were asked for. They outlive it.
class ArrivedMessagesOfAll {
public:
  const ArrivedMessages& of(const Communicator& communicator);

private:
  std::unordered_map<const Communicator*, std::unique_ptr<ArrivedMessages>> known_;
};

} // namespace mqbridge
