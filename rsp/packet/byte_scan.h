#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#if defined(__SSE2__)
#include <bit>
#include <emmintrin.h>
#endif

// The loops that every byte of a bulk reply goes through. Plain code that the compiler vectorises,
// but for the search, which it cannot.

namespace mqbridge::rsp {

/// The first `one` or `other` in `bytes`; the length of `bytes` if there is neither.
inline std::size_t find_either(std::string_view bytes, char one, char other) {
  std::size_t at = 0;
#if defined(__SSE2__)
  constexpr std::size_t block = sizeof(__m128i);
  const __m128i ones = _mm_set1_epi8(one);
  const __m128i others = _mm_set1_epi8(other);
  for (; bytes.size() - at >= block; at += block) {
    const __m128i next = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes.data() + at));
    const __m128i hits = _mm_or_si128(_mm_cmpeq_epi8(next, ones), _mm_cmpeq_epi8(next, others));
    if (const int mask = _mm_movemask_epi8(hits); mask != 0)
      return at + static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(mask)));
  }
#endif
  while (at < bytes.size() && bytes[at] != one && bytes[at] != other)
    ++at;
  return at;
}

/// The sum of all bytes modulo 256: a packet's checksum.
inline std::uint8_t sum_of(std::string_view bytes) {
  std::uint8_t sum = 0;
  for (const char byte : bytes)
    sum = static_cast<std::uint8_t>(sum + static_cast<std::uint8_t>(byte));
  return sum;
}

} // namespace mqbridge::rsp
