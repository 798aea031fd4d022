#include "rsp/packet/printable.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>

namespace mqbridge {
namespace {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t length = 0; ///< 0: not UTF-8
};

bool continues(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U;
}

CodePoint decode(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80)
    return {lead, 1};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4)
    return {};
  std::uint32_t value = lead & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if (!continues(text, i))
      return {};
    value = value << 6U | (static_cast<unsigned char>(text[i]) & 0x3fU);
  }
  constexpr std::uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (value < smallest[length] || value > 0x10ffff || surrogate)
    return {};
  return {value, length};
}

/// Or is not seen at all, so that two names look like one.
bool drives_terminal(std::uint32_t value) {
  return value < 0x20 || (value >= 0x7f && value <= 0x9f) || value == 0x61c || value == 0x180e ||
         (value >= 0x200b && value <= 0x200f) || (value >= 0x2028 && value <= 0x202e) ||
         (value >= 0x2060 && value <= 0x206f) || value == 0xfeff ||
         (value >= 0xe0000 && value <= 0xe007f);
}

/// Nearly all text is plain ASCII, which is not cleaned character by character.
bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

/// Copies the characters that can be shown. For each other character or stray byte, `replace` adds
/// something.
template <class Replace>
std::string clean(std::string_view text, Replace replace) {
  if (is_plain(text))
    return std::string(text);
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = decode(text);
    const bool valid = point.length != 0;
    if (valid && !drives_terminal(point.value))
      out += text.substr(0, point.length);
    else
      replace(out, text[0], point);
    text.remove_prefix(valid ? point.length : 1);
  }
  return out;
}

} // namespace

std::string printable(std::string_view text) {
  return clean(text, [](std::string& out, char byte, const CodePoint& point) {
    out += point.length <= 1 ? fmt::format("\\x{:02x}", static_cast<unsigned char>(byte))
                             : fmt::format("\\u{{{:04x}}}", point.value);
  });
}

std::string readable(std::string_view text) {
  return clean(text, [](std::string& out, char, const CodePoint&) { out += '?'; });
}

std::string quote_word(std::string_view text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_./:=@%+,").find(c) != std::string_view::npos;
  });
  if (plain)
    return std::string(text);
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'')
      quoted += R"('\'')";
    else
      quoted += c;
  }
  return quoted + "'";
}

std::string pasteable(std::string_view text) {
  return quote_word(printable(text));
}

} // namespace mqbridge
