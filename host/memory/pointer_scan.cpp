#include "host/memory/pointer_scan.h"

#include <bit>
#include <cassert>
#include <cstring>

namespace mqbridge {
namespace {

template <typename Word>
Word swapped(Word word) {
  if constexpr (sizeof(Word) == 8)
    return __builtin_bswap64(word);
  else
    return __builtin_bswap32(word);
}

template <typename Word, bool Swap>
std::size_t scan(std::span<const std::byte> bytes, const PointerShape& shape,
                 std::span<std::uint64_t> found) {
  const std::uint64_t first = shape.first.value;
  const std::uint64_t width = shape.last.value - first;
  std::size_t count = 0;
  for (std::size_t at = 0; at + sizeof(Word) <= bytes.size(); at += shape.alignment) {
    Word word;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    if constexpr (Swap)
      word = swapped(word);
    // The word is written in any case, and kept if it counts: a branch could not be predicted.
    found[count] = word;
    count += static_cast<std::size_t>(std::uint64_t{word} - first <= width);
  }
  return count;
}

} // namespace

std::size_t scan_pointers(std::span<const std::byte> bytes, const PointerShape& shape,
                          std::span<std::uint64_t> found) {
  assert(found.size() >= most_pointers(bytes.size(), shape));
  const bool swap =
      (shape.byte_order == ByteOrder::big) != (std::endian::native == std::endian::big);
  if (shape.size == 4)
    return swap ? scan<std::uint32_t, true>(bytes, shape, found)
                : scan<std::uint32_t, false>(bytes, shape, found);
  return swap ? scan<std::uint64_t, true>(bytes, shape, found)
              : scan<std::uint64_t, false>(bytes, shape, found);
}

} // namespace mqbridge
