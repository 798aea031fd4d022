#include "host/disk/checksum.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace mqbridge {

// Four lanes, so that the multiplications of one do not wait for each other. Each step is a
// bijection of its lane for a given word, and of the word for a given lane: a change of one word
// changes its lane, to the end.
std::uint64_t checksum(std::span<const std::byte> bytes) {
  constexpr std::uint64_t odd_1 = 0x9e3779b97f4a7c15;
  constexpr std::uint64_t odd_2 = 0xc2b2ae3d27d4eb4f;
  constexpr std::size_t block = 32;
  std::array<std::uint64_t, 4> lanes = {odd_1, odd_2, ~odd_1, ~odd_2};
  const auto add = [&](const std::byte* from) {
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      std::uint64_t word = 0;
      std::memcpy(&word, from + 8 * i, sizeof word);
      lanes[i] = std::rotl((lanes[i] ^ word) * odd_1, 29);
    }
  };
  std::size_t at = 0;
  for (; bytes.size() - at >= block; at += block)
    add(bytes.data() + at);
  std::array<std::byte, block> rest{};
  std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.end(), rest.begin());
  add(rest.data());
  std::uint64_t sum = bytes.size() * odd_2;
  for (const auto lane : lanes) {
    sum = (sum ^ lane) * odd_1;
    sum ^= sum >> 32;
  }
  return sum;
}

} // namespace mqbridge
