#include "host/process/first_look.h"

#include <algorithm>

namespace mqbridge {

Result<void> FirstLook::take(std::vector<Extent> pieces) {
  pieces_.clear();
  const auto same = [](const Extent& one, const Extent& other) {
    return one.address == other.address && one.size == other.size;
  };
  std::sort(pieces.begin(), pieces.end(), [](const Extent& one, const Extent& other) {
    return one.address == other.address ? one.size < other.size : one.address < other.address;
  });
  pieces.erase(std::unique(pieces.begin(), pieces.end(), same), pieces.end());
  for (const auto& [address, size] : pieces)
    pieces_.push_back({address, std::vector<std::byte>(size)});
  std::vector<MemoryRange> ranges;
  for (auto& piece : pieces_)
    ranges.push_back({piece.address, piece.bytes});
  if (auto done = below_.read_ranges(ranges); !done) {
    pieces_.clear();
    return done;
  }
  for (std::size_t i = 0; i < ranges.size(); ++i)
    pieces_[i].bytes.resize(ranges[i].read);
  return {};
}

Result<void> FirstLook::read_ranges(std::span<MemoryRange> ranges) {
  std::vector<MemoryRange> missing;
  std::vector<MemoryRange*> owners;
  for (auto& range : ranges) {
    if (answer(range))
      continue;
    missing.push_back(range);
    owners.push_back(&range);
  }
  if (missing.empty())
    return {};
  if (auto done = below_.read_ranges(missing); !done)
    return done;
  for (std::size_t i = 0; i < missing.size(); ++i)
    owners[i]->read = missing[i].read;
  return {};
}

bool FirstLook::answer(MemoryRange& range) const {
  for (const auto& [address, bytes] : pieces_) {
    const auto offset = range.address - address; // huge if it lies before
    if (offset > bytes.size() || range.into.size() > bytes.size() - offset)
      continue;
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), range.into.size(),
                range.into.begin());
    range.read = range.into.size();
    return true;
  }
  return false;
}

} // namespace mqbridge
