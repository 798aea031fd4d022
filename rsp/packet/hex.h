#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mqbridge::rsp {

/// The value of a hexadecimal digit of either case, -1 for anything else.
constexpr int hex_value(char digit) {
  if (digit >= '0' && digit <= '9')
    return digit - '0';
  if (digit >= 'a' && digit <= 'f')
    return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F')
    return digit - 'A' + 10;
  return -1;
}

constexpr bool is_hex(char digit) {
  return hex_value(digit) >= 0;
}

/// A number as packets carry it: hexadecimal digits and nothing else. nullopt: beyond 64 bits, too.
std::optional<std::uint64_t> parse_hex(std::string_view digits);

/// Two digits for each byte of `into`; false if `digits` is not exactly that, and `into` then holds
/// anything.
bool decode_hex(std::string_view digits, std::span<std::byte> into);

/// Two lower-case digits for each byte.
std::string encode_hex(std::string_view bytes);

/// Whether a reply is `E NN` or `E.text`. Data in hexadecimal never is: its length is even.
bool is_error_reply(std::string_view reply);

} // namespace mqbridge::rsp
