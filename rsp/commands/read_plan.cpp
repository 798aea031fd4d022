#include "rsp/commands/read_plan.h"

#include <algorithm>
#include <limits>

namespace mqbridge::rsp {
namespace {

/// Requests of a careful burst. The bursts behind it are fast again.
constexpr std::size_t careful_requests = 32;

/// The most ranges in one request: they make a packet of a kilobyte.
constexpr std::size_t most_ranges = 40;

} // namespace

bool may_not_fit(std::size_t length, const Features& features) {
  constexpr std::size_t frame = 8;
  return 2 * length + frame > features.packet_size;
}

ReadPlan::ReadPlan(std::span<JoinedRange> ranges, const Features& features, const MemoryFile& file,
                   Onlooker onlooker, bool careful)
    : ranges_(ranges), features_(features), file_(file), onlooker_(onlooker), careful_(careful) {
  for (JoinedRange& range : ranges_)
    range.begin_burst();
}

std::optional<PlannedRead> ReadPlan::next() {
  if (careful_ && planned_ == careful_requests)
    return std::nullopt;
  const auto first = next_piece(std::numeric_limits<std::size_t>::max());
  if (!first)
    return std::nullopt;
  PlannedRead read{form_for(*first), {*first}};
  if (features_.multi_mem_read && !careful_) {
    gather_more(read.pieces);
    read.form = read.pieces.size() > 1 ? ReadForm::many : read.form;
  }
  ++planned_;
  return read;
}

/// Takes further small pieces into the request for the last one.
void ReadPlan::gather_more(std::vector<MemoryPiece>& pieces) {
  const std::size_t room = features_.max_hex_read();
  std::size_t taken = pieces.back().length;
  for (std::size_t count = 1; count < most_ranges && taken < room; ++count) {
    const auto more = next_piece(room - taken);
    if (!more)
      return;
    taken += more->length;
    pieces.push_back(*more);
  }
}

/// Nullopt: there is no further piece, or it is longer than `longest`.
std::optional<MemoryPiece> ReadPlan::next_piece(std::size_t longest) {
  for (; next_range_ < ranges_.size(); ++next_range_) {
    JoinedRange& range = ranges_[next_range_];
    const std::size_t whole = range.next_piece();
    if (whole > longest)
      return std::nullopt;
    if (whole > 0) {
      const std::size_t length = wanted(range, whole);
      if (length == 0)
        return std::nullopt;
      const std::uint64_t address = range.next_address();
      return MemoryPiece{&range, address, length, range.asked(length)};
    }
  }
  return std::nullopt;
}

/// How many of the next `length` bytes, which may be of several requests, the watcher wants.
std::size_t ReadPlan::wanted(const JoinedRange& range, std::size_t length) {
  if (onlooker_.watcher == nullptr)
    return length;
  std::size_t wanted = 0;
  for (RangePlace place = range.next_place(); wanted < length;) {
    const RangePlace from = place;
    const std::size_t here = range.room(place, length - wanted).size();
    const auto request = range.number_of(from.request, onlooker_.first);
    const std::size_t of_these = std::min(onlooker_.watcher->wants(request, from.offset), here);
    wanted += of_these;
    if (of_these < here)
      break;
  }
  held_back_ = wanted == 0;
  return wanted;
}

ReadForm ReadPlan::form_for(const MemoryPiece& piece) const {
  // Only `m` tells where a hole begins. A file does not, nor does a reply that may be too long.
  const bool narrowing = piece.range->scan().narrowing();
  if (!careful_ && !narrowing && file_.serves(piece.address, piece.length))
    return ReadForm::file;
  if (narrowing && may_not_fit(piece.length, features_))
    return ReadForm::hex;
  // LLDB's binary replies have no prefix: three bytes of memory may look like "E01".
  constexpr std::size_t ambiguous = 3;
  switch (features_.binary_read) {
  case BinaryRead::gdb:
    return ReadForm::binary;
  case BinaryRead::lldb:
    return piece.length <= ambiguous ? ReadForm::hex : ReadForm::bare_binary;
  case BinaryRead::none:
    break;
  }
  return ReadForm::hex;
}

} // namespace mqbridge::rsp
