#include "rsp/packet/hex.h"

#include <charconv>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace mqbridge::rsp {
namespace {

#if defined(__SSE2__)
/// The values of 16 digits, each in its byte. A character that is no digit sets its byte in `bad`.
__m128i values_of(const char* digits, __m128i& bad) {
  const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(digits));
  const __m128i number = _mm_sub_epi8(text, _mm_set1_epi8('0'));
  const __m128i lower = _mm_or_si128(text, _mm_set1_epi8(0x20));
  const __m128i letter = _mm_sub_epi8(lower, _mm_set1_epi8('a'));
  const __m128i is_number = _mm_cmpeq_epi8(_mm_min_epu8(number, _mm_set1_epi8(9)), number);
  const __m128i is_letter = _mm_cmpeq_epi8(_mm_min_epu8(letter, _mm_set1_epi8(5)), letter);
  bad = _mm_or_si128(bad, _mm_andnot_si128(_mm_or_si128(is_number, is_letter), _mm_set1_epi8(-1)));
  const __m128i ten_more = _mm_add_epi8(letter, _mm_set1_epi8(10));
  return _mm_or_si128(_mm_and_si128(is_number, number), _mm_and_si128(is_letter, ten_more));
}

/// Joins the digits to eight bytes, in the low halves of eight words; the first digit is the higher
/// one.
__m128i paired(__m128i values) {
  const __m128i joined = _mm_or_si128(_mm_slli_epi16(values, 4), _mm_srli_epi16(values, 8));
  return _mm_and_si128(joined, _mm_set1_epi16(0xff));
}
#endif

/// Decodes the whole blocks of digits, and takes them off the front of both; false at a character
/// that is no digit.
bool decode_blocks([[maybe_unused]] std::string_view& digits,
                   [[maybe_unused]] std::span<std::byte>& into) {
#if defined(__SSE2__)
  constexpr std::size_t block = sizeof(__m128i);
  __m128i bad = _mm_setzero_si128();
  std::size_t at = 0;
  for (; into.size() - at >= block; at += block) {
    const char* const from = digits.data() + 2 * at;
    const __m128i first = paired(values_of(from, bad));
    const __m128i second = paired(values_of(from + block, bad));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(into.data() + at), _mm_packus_epi16(first, second));
  }
  digits.remove_prefix(2 * at);
  into = into.subspan(at);
  return _mm_movemask_epi8(bad) == 0;
#else
  return true;
#endif
}

} // namespace

std::optional<std::uint64_t> parse_hex(std::string_view digits) {
  std::uint64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, value, 16);
  if (error != std::errc() || stopped != end)
    return std::nullopt;
  return value;
}

bool decode_hex(std::string_view digits, std::span<std::byte> into) {
  if (digits.size() != 2 * into.size())
    return false;
  if (!decode_blocks(digits, into))
    return false;
  for (std::size_t i = 0; i < into.size(); ++i) {
    const int high = hex_value(digits[2 * i]);
    const int low = hex_value(digits[2 * i + 1]);
    if (high < 0 || low < 0)
      return false;
    into[i] = static_cast<std::byte>(high * 16 + low);
  }
  return true;
}

std::string encode_hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += digits[value >> 4];
    text += digits[value & 0xf];
  }
  return text;
}

bool is_error_reply(std::string_view reply) {
  if (reply.starts_with("E."))
    return true;
  return reply.size() == 3 && reply.front() == 'E' && parse_hex(reply.substr(1)).has_value();
}

} // namespace mqbridge::rsp
