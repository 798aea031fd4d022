#pragma once

#include "rsp/link_estimate.h"

#include <cstddef>
#include <cstdint>

namespace mqbridge {

/// What was read of a target so far, in pages.
struct ReadSoFar {
  std::uint64_t touched = 0; ///< somebody looked at them
  std::uint64_t guessed = 0; ///< read because they might be needed, and not looked at yet
};

/// Links at most this fast read lines where that pays, and hardly guess: bytes are what is scarce.
inline constexpr double slow_link = 1.6e6; ///< bytes a second: 10 Mbit/s, measured generously

/// What is worth reading where one line of 64 bytes is missing: as much as the link carries while a
/// request is under way. PageStore::page_size: pages. Less only on slow links.
std::size_t read_unit(const rsp::LinkEstimate& link);

/// How many pages more than what is missing the next burst may read. Rent or buy: reading ahead may
/// have cost in vain, at any moment, as much time as paging on demand would have waited for round
/// trips until then, `missing` pages that are about to be read included. That makes every walk at
/// most twice as long as on-demand paging; and as each burst carries at least what the link carries
/// during a round trip, about twice as long as reading a mapping at once.
///
/// Never more in vain than 8 pages for each that was looked at, and 4 MiB; on slow links half a
/// page for each. 0 as long as the link's speed is not known.
std::size_t guesses_allowed(const rsp::LinkEstimate& link, const ReadSoFar& so_far,
                            std::size_t missing);

} // namespace mqbridge
