#include "rsp/commands/joined_range.h"

#include <algorithm>
#include <numeric>

namespace mqbridge::rsp {
namespace {

std::size_t size_of(std::span<const ReadRequest> requests) {
  return std::accumulate(
      requests.begin(), requests.end(), std::size_t{0},
      [](std::size_t sum, const ReadRequest& request) { return sum + request.into.size(); });
}

/// Whether `next` begins where `request` ends. No request begins at the end of the address space.
bool touches(const ReadRequest& request, const ReadRequest& next) {
  const std::uint64_t end = request.address + request.into.size();
  return !next.into.empty() && next.address == end && end > request.address;
}

} // namespace

JoinedRange::JoinedRange(std::span<ReadRequest> requests, std::size_t skipped,
                         std::size_t longest_piece, std::size_t grain)
    : requests_(requests), skipped_(skipped), longest_piece_(longest_piece), grain_(grain),
      scan_(requests.front().address + skipped, size_of(requests) - skipped, longest_piece, grain),
      place_(place_of(skipped)) {}

std::size_t JoinedRange::next_piece() const {
  if (scan_.done() || short_ || ahead() >= scan_.rest() || (scan_.narrowing() && ahead() > 0))
    return 0;
  return scan_.next_piece(ahead());
}

RangePlace JoinedRange::asked(std::size_t length) {
  const RangePlace place = place_;
  asked_to_ += length;
  for (std::size_t left = length; left > 0;)
    left -= room(place_, left).size();
  return place;
}

void JoinedRange::begin_burst() {
  asked_to_ = scan_.read();
  place_ = place_of(position_of_read());
  short_ = false;
}

std::span<std::byte> JoinedRange::room(RangePlace& place, std::size_t length) const {
  const std::span<std::byte> rest = requests_[place.request].into.subspan(place.offset);
  const auto part = rest.first(std::min(length, rest.size()));
  place.offset += part.size();
  if (part.size() == rest.size())
    place = {place.request + 1, 0};
  return part;
}

RangePlace JoinedRange::place_of(std::size_t position) const {
  RangePlace place{0, position};
  while (place.request < requests_.size() && place.offset >= requests_[place.request].into.size())
    place.offset -= requests_[place.request++].into.size();
  return place;
}

void JoinedRange::tell(const ReadRequest* first, ReadWatcher& watcher) {
  const std::size_t read = position_of_read();
  for (; told_.request < requests_.size(); ++told_.request) {
    ReadRequest& request = requests_[told_.request];
    const std::size_t here = std::min(read - told_.offset, request.into.size());
    if (here > request.read) {
      request.read = here;
      watcher.came(number_of(told_.request, first), here);
    }
    if (here < request.into.size())
      return;
    told_.offset += here;
  }
}

void JoinedRange::settle(std::vector<JoinedRange>& unfinished) {
  std::size_t left = position_of_read();
  for (ReadRequest& request : requests_) {
    request.read = std::min(left, request.into.size());
    left -= request.read;
  }
  if (scan_.done() ? scan_.rest() == 0 : !scan_.narrowing() || requests_.size() == 1) {
    if (!scan_.done())
      unfinished.push_back(*this);
    return;
  }
  // A part of the range cannot be read. Each request finds out by itself which of its bytes can.
  const RangePlace reached = place_of(position_of_read());
  for (std::size_t i = reached.request; i < requests_.size(); ++i) {
    const bool is_known_hole = scan_.done() && i == reached.request;
    requests_[i].at_hole = is_known_hole;
    if (!is_known_hole)
      unfinished.emplace_back(requests_.subspan(i, 1), i == reached.request ? reached.offset : 0,
                              longest_piece_, grain_);
  }
}

std::vector<JoinedRange> join(std::span<ReadRequest> requests, std::size_t longest_piece,
                              std::size_t grain) {
  std::vector<JoinedRange> ranges;
  for (ReadRequest& request : requests) {
    request.read = 0;
    request.at_hole = false;
  }
  for (std::size_t first = 0; first < requests.size();) {
    std::size_t end = first + 1;
    if (!requests[first].into.empty()) {
      while (end < requests.size() && touches(requests[end - 1], requests[end]))
        ++end;
      ranges.emplace_back(requests.subspan(first, end - first), 0, longest_piece, grain);
    }
    first = end;
  }
  return ranges;
}

} // namespace mqbridge::rsp
