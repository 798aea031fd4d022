#pragma once

#include "host/memory/platform.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace mqbridge {

/// How a text of Python is kept: what the bit-field of its PyASCIIObject says.
struct PythonText {
  std::size_t width = 1; ///< bytes of a letter: 1, 2 or 4
  bool ascii = false;    ///< then its letters stand behind a smaller structure
};

/// nullopt: it is none whose letters stand behind its structure, as those of code do.
std::optional<PythonText> python_text(std::uint64_t state, ByteOrder order);

/// UTF-8 of letters that have `width` bytes each. Numbers that are no letters are U+FFFD.
std::string utf8_of(std::span<const std::byte> letters, std::size_t width, ByteOrder order);

} // namespace mqbridge
