#pragma once

#include "rsp/exchange/link_estimate.h"

#include <cstddef>
#include <cstdint>

namespace mqbridge {

/// What was read of a target so far.
struct ReadSoFar {
  std::uint64_t touched = 0; ///< pages that somebody looked at
  std::uint64_t guessed = 0; ///< pages read because they might be needed, not looked at yet
  std::uint64_t bursts = 0;
  /// Pages that the link would have carried in their round trips, each by what was known of the
  /// link then: what was guessed while it seemed faster than it does now was not dearer than that.
  double carried = 0;
};

/// Pages that the link carries while a request and its reply are under way.
double pages_in_flight(const rsp::LinkEstimate& link);

/// At most 10 Mbit/s, measured generously: bytes are what is scarce.
bool is_slow(const rsp::LinkEstimate& link);

/// A round trip takes as long as so many pages that it hardly matters what else a burst brings:
/// neighbours that nothing speaks for are worth reading. On shorter links only what follows from
/// what was read is.
bool guesses_are_cheap(const rsp::LinkEstimate& link);

/// What is worth reading where one line of 64 bytes is missing: as much as the link carries while a
/// request is under way. PageStore::page_size: pages. Less only on slow links, and only where a
/// page costs as much as several round trips: a walk that needs most of it takes a round trip for
/// each piece.
std::size_t read_unit(const rsp::LinkEstimate& link);

/// How many pages more than what is missing the next burst may read. Rent or buy: guesses may have
/// cost in vain, at any moment, as much time as everything else did: the round trips until now,
/// that of this burst included, and the transfer of what was looked at, of the `missing` pages
/// included. So a walk takes at most twice as long as it would have without what was guessed in
/// vain. As each burst carries at least what the link carries during a round trip, it also takes at
/// most about twice as long as reading the mapping at once.
///
/// Where the link carries less than a page during a round trip, a wrong guess costs more than a
/// right one saves: so much less is allowed.
///
/// Never more in vain than 8 pages for each that was looked at, and 64 MiB. On slow links half a
/// page for each; of the good kind (`good_ones`: what lists point to) 4 pages for each, and 4. 0 as
/// long as nothing is known of the link's speed.
std::size_t guesses_allowed(const rsp::LinkEstimate& link, const ReadSoFar& so_far,
                            std::size_t missing, bool good_ones = false);

} // namespace mqbridge
