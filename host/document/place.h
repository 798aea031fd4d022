#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace mqbridge {

/// Where in a document something stands, for messages: "ranks[3].platform.pointer_size". Each level
/// knows the one around it, which outlives it; so does what `key` views.
struct Place {
  const Place* outer = nullptr;                    ///< null: the document itself
  std::string_view key;                            ///< the member of an object
  std::optional<std::size_t> index = std::nullopt; ///< the element of an array

  /// Printable, and of bounded length. Empty: the document itself.
  std::string text() const;
};

} // namespace mqbridge
