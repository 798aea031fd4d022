#include "host/mqs/text.h"

#include <cstddef>
#include <cstdint>
#include <fmt/format.h>

namespace mqbridge {
namespace {

bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

/// Bytes of the UTF-8 character that `text` starts with; 0: it starts with none that can be shown.
std::size_t character_size(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80)
    return first >= 0x20 && first != 0x7f ? 1 : 0;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size)
    return 0;
  std::uint32_t code = first & (0xffU >> (size + 1));
  for (char byte : text.substr(1, size - 1)) {
    if (!is_continuation(byte))
      return 0;
    code = code << 6 | (static_cast<unsigned char>(byte) & 0x3fU);
  }
  const bool overlong = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  const bool control = code < 0xa0; // C1
  return overlong || surrogate || control || code > 0x10ffff ? 0 : size;
}

template <class Replace>
std::string clean(std::string_view text, Replace replace) {
  std::string result;
  while (!text.empty()) {
    const std::size_t size = character_size(text);
    if (size == 0) {
      replace(result, text[0]);
      text.remove_prefix(1);
      continue;
    }
    result += text.substr(0, size);
    text.remove_prefix(size);
  }
  return result;
}

} // namespace

std::string printable(std::string_view text) {
  return clean(text, [](std::string& result, char byte) {
    result += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  });
}

std::string readable(std::string_view text) {
  return clean(text, [](std::string& result, char) { result += '?'; });
}

} // namespace mqbridge
