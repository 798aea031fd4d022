#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mqbridge {

/// The meaning of a piece of text, for its colour.
enum class Style : std::uint8_t { plain, heading, good, warning, bad, fix, dim };

/// Colours by ANSI escape sequences, or none. The words alone carry the meaning.
class Paint {
public:
  explicit Paint(bool on) : on_(on) {}
  std::string operator()(Style style, std::string_view text) const;

private:
  bool on_;
};

} // namespace mqbridge
