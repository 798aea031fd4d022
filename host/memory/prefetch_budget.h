#pragma once

#include "rsp/exchange/link_estimate.h"

#include <cstddef>
#include <cstdint>

namespace mqbridge {

/// Counts of the reads from a target so far.
struct ReadSoFar {
  std::uint64_t touched = 0; ///< pages that somebody looked at
  std::uint64_t guessed = 0; ///< pages read because they might be needed, and not looked at yet
  std::uint64_t bursts = 0;
  /// Pages that the link could have carried during the round trips of all bursts. Each burst counts
  /// by the estimate of its time: a guess was not dearer because the link proved slower later.
  double carried = 0;
};

/// Pages that the link carries while a request and its reply are under way.
double pages_in_flight(const rsp::LinkEstimate& link);

/// The link carries at most about 10 Mbit/s: its bytes are what is scarce, not its round trips.
bool is_slow(const rsp::LinkEstimate& link);

/// A round trip takes as long as the transfer of 64 pages or more. Then it hardly matters what else
/// a burst brings, and the policy reads neighbours for which nothing speaks. On shorter links it
/// reads only what follows from the pages that it has.
bool guesses_are_cheap(const rsp::LinkEstimate& link);

/// Bytes that are worth reading where one line of 64 bytes is missing: as many as the link carries
/// while a request is under way, rounded up to a power of two. It is PageStore::page_size on every
/// link that is not slow, and wherever the transfer of a page takes less than four round trips: a
/// walk that needs most of the page would take a round trip for each piece.
///
/// For example, at 115,200 baud (11.5 KB/s) with 2 ms of round trip: 64 bytes, one line.
std::size_t read_unit(const rsp::LinkEstimate& link);

/// The number of pages that the next burst may guess, beside the `missing` ones.
///
/// The rule is rent or buy: at any moment, guesses that nobody has looked at may have cost as much
/// time as everything else. "Everything else" is all round trips, that of this burst included, and
/// the transfer of the pages that were looked at, the `missing` ones included. So wrong guesses
/// make a walk at most twice as long. Each burst carries at least as much as the link carries
/// during a round trip. So a walk takes at most about twice as long as reading the whole mapping at
/// once.
///
/// Where a page takes longer than a round trip, a wrong guess costs more than a right one saves.
/// The allowance shrinks by that ratio.
///
/// Two bounds hold in any case:
///   - on links that are not slow, 64 MiB of wrong guesses, and 8 pages for each page that was
///     looked at;
///   - on slow links, one wrong guess for every two pages that were looked at. For `good_ones`
///     (pages that lists point to) it is 4 pages for each one that was looked at, and 4 more.
/// As long as the speed of the link is not known, no guess is allowed.
std::size_t guesses_allowed(const rsp::LinkEstimate& link, const ReadSoFar& so_far,
                            std::size_t missing, bool good_ones = false);

} // namespace mqbridge
