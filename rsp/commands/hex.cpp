#include "rsp/commands/hex.h"

#include "rsp/hex_digit.h"

#include <charconv>

namespace mqbridge::rsp {
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
