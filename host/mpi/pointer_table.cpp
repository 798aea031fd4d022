#include "host/mpi/pointer_table.h"

#include "host/memory/reader.h"

#include <algorithm>
#include <span>

namespace mqbridge {
namespace {

constexpr std::size_t first_bytes_of_table = 4096;

bool are_different(std::vector<std::uint64_t> words) {
  std::ranges::sort(words);
  return (words.empty() || words.front() != 0) && std::ranges::adjacent_find(words) == words.end();
}

/// Reads one piece. Empty: not all words can be read, or they cannot be in one table.
Result<std::vector<std::uint64_t>> read_piece(TargetAddress address, std::size_t count,
                                              const AddressSpace& space) {
  const auto pointer = static_cast<std::size_t>(space.platform.pointer_size);
  std::vector<std::byte> bytes(count * pointer);
  auto read = space.memory.read(address, bytes);
  if (!read)
    return forward(std::move(read));
  std::vector<std::uint64_t> words;
  for (std::size_t i = 0; *read == bytes.size() && i < count; ++i)
    words.push_back(
        decode_unsigned(std::span(bytes).subspan(i * pointer, pointer), space.platform.byte_order));
  return are_different(words) ? words : std::vector<std::uint64_t>();
}

} // namespace

Result<std::vector<std::uint64_t>> read_pointer_table(TargetAddress address, std::size_t count,
                                                      const AddressSpace& space) {
  const auto pointer = static_cast<std::size_t>(space.platform.pointer_size);
  std::vector<std::uint64_t> words;
  for (std::size_t piece = first_bytes_of_table; words.size() < count; piece *= 2) {
    auto some =
        read_piece(address + words.size() * pointer, std::min(piece, count - words.size()), space);
    if (!some || some->empty())
      return some;
    words.insert(words.end(), some->begin(), some->end());
  }
  return are_different(words) ? words : std::vector<std::uint64_t>();
}

} // namespace mqbridge
