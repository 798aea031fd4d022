#pragma once

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

} // namespace mqbridge::rsp
