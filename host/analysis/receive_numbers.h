#pragma once

#include "host/analysis/job_picture.h"
#include "host/analysis/message_index.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_set>

namespace mqbridge {

/// What the numbers of posted receives (Operation::sequence) tell of two looks, where messages are
/// not counted. Refers to the picture.
class ReceiveNumbers {
public:
  explicit ReceiveNumbers(const JobPicture& picture) : picture_(picture) {}

  /// Whether the receive was posted between the looks. nullopt: not known.
  std::optional<bool> is_new(const Seat& seat, const Operation& receive);
  /// Whether the process is in the same calls in both looks, and has the same receives.
  bool stand_still(std::size_t process);

private:
  struct Numbers {
    explicit Numbers(const Communicator& communicator);
    std::unordered_set<std::uint32_t> all;
  };

  const JobPicture& picture_;
  IndexOfEach<Numbers> numbers_;
};

} // namespace mqbridge
