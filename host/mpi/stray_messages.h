#pragma once

#include "rsp/result.h"

#include <compare>
#include <cstdint>
#include <map>
#include <optional>

namespace mqbridge {

/// What a message without a communicator says of itself.
struct Stray {
  std::uint64_t context = 0;
  std::int64_t source = 0, tag = 0;
  auto operator<=>(const Stray&) const = default;
};

/// Messages that came for communicators that the process does not have: it has not made them yet,
/// or has freed them.
class StrayMessages {
public:
  /// False: there are too many kinds of them to count more.
  bool take(const Stray& stray);
  /// queue.no_communicator, with their number, sources, tags and contexts; nullopt: there are none.
  std::optional<Error> warning() const;

private:
  std::map<Stray, std::uint64_t> kinds_; ///< how many there are of each
};

} // namespace mqbridge
