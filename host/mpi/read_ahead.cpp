#include "host/mpi/read_ahead.h"

#include <algorithm>

namespace mqbridge {
namespace {

constexpr std::uint64_t few_items = 32;
constexpr std::uint64_t most_items_of_a_piece = 1 << 20;
constexpr std::size_t first_ahead = 1 << 20;
constexpr std::size_t most_ahead = 4 << 20;
constexpr std::size_t least_ahead = 16 << 10;
/// If less than this part of a piece was needed, the next piece is smaller.
constexpr std::size_t part_needed = 4;
/// This part of a piece lies behind the item from which the walk went away.
constexpr std::size_t part_behind = 8;

} // namespace

ReadAhead::ReadAhead(Memory& memory, std::size_t item_size, std::uint64_t expected)
    : memory_(memory), item_size_(item_size), expected_(expected),
      ahead_(expected < few_items         ? 0
             : expected == unknown_length ? least_ahead
                                          : first_ahead) {}

Result<void> ReadAhead::read(std::span<MemoryRange> items) {
  std::vector<MemoryRange> missing;
  std::vector<MemoryRange*> asked;
  for (MemoryRange& item : items) {
    expected_ -= std::min<std::uint64_t>(expected_, 1);
    if (serve(item))
      continue;
    missing.push_back({item.address, item.into});
    asked.push_back(&item);
  }
  if (missing.empty())
    return {};
  const bool with_piece = ahead_ > 0;
  if (with_piece)
    missing.push_back(next_piece(missing.front().address));
  if (auto done = memory_.read_ranges(missing); !done)
    return done;
  if (with_piece)
    readable_ = missing.back().read;
  for (std::size_t i = 0; i < asked.size(); ++i)
    asked[i]->read = missing[i].read;
  return {};
}

bool ReadAhead::serve(MemoryRange& item) {
  const std::uint64_t at = item.address.value - piece_at_.value; // wraps around if before
  if (at >= readable_ || readable_ - at < item.into.size())
    return false;
  std::copy_n(piece_.begin() + static_cast<std::ptrdiff_t>(at), item.into.size(),
              item.into.begin());
  item.read = item.into.size();
  used_ += item.read;
  return true;
}

/// A piece around an item that is not in the last piece. Most of it lies ahead in the walk's
/// direction.
MemoryRange ReadAhead::next_piece(TargetAddress item) {
  if (!piece_.empty())
    ahead_ = used_ >= piece_.size() / part_needed ? std::min(2 * ahead_, most_ahead)
                                                  : ahead_ / part_needed;
  // Between the items lie other objects: room for as many bytes of these is enough.
  ahead_ = static_cast<std::size_t>(std::min<std::uint64_t>(
      ahead_, 2 * item_size_ * std::min(expected_ + 1, most_items_of_a_piece)));
  if (ahead_ < least_ahead)
    ahead_ = 0;
  const bool falls = !piece_.empty() && item < piece_at_;
  const std::size_t behind = ahead_ / part_behind;
  const std::size_t before = falls ? ahead_ - behind : behind;
  piece_at_ = item - std::min<std::uint64_t>(before, item.value);
  piece_.resize(ahead_);
  readable_ = used_ = 0;
  return {piece_at_, piece_};
}

} // namespace mqbridge
