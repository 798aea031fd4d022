#include "host/stacks/python/python_text.h"

#include "host/memory/reader.h"

namespace mqbridge {
namespace {

void add_letter(std::string& text, std::uint32_t letter) {
  constexpr std::uint32_t no_letter = 0xfffd;
  if (letter > 0x10ffff || (letter >= 0xd800 && letter <= 0xdfff))
    letter = no_letter;
  const auto add = [&](std::uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  const auto add_rest = [&](unsigned shift) { add(0x80 | (letter >> shift & 0x3f)); };
  if (letter < 0x80) {
    add(letter);
  } else if (letter < 0x800) {
    add(0xc0 | letter >> 6);
    add_rest(0);
  } else if (letter < 0x10000) {
    add(0xe0 | letter >> 12);
    add_rest(6);
    add_rest(0);
  } else {
    add(0xf0 | letter >> 18);
    add_rest(12);
    add_rest(6);
    add_rest(0);
  }
}

} // namespace

std::optional<PythonText> python_text(std::uint64_t state, ByteOrder order) {
  // Compilers give bit-fields their bits from the lowest on, and on big-endian machines from the
  // highest on: two of something else, three with the width, is it compact, is it ASCII.
  const bool little = order == ByteOrder::little;
  const auto width = static_cast<std::size_t>(state >> (little ? 2 : 27) & 7);
  const bool compact = (state >> (little ? 5 : 26) & 1) != 0;
  const bool ascii = (state >> (little ? 6 : 25) & 1) != 0;
  if (!compact || (width != 1 && width != 2 && width != 4) || (ascii && width != 1))
    return std::nullopt;
  return PythonText{width, ascii};
}

std::string utf8_of(std::span<const std::byte> letters, std::size_t width, ByteOrder order) {
  std::string text;
  for (; letters.size() >= width; letters = letters.subspan(width))
    add_letter(text, static_cast<std::uint32_t>(decode_unsigned(letters.first(width), order)));
  return text;
}

} // namespace mqbridge
