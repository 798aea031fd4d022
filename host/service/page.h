#pragma once

#include <string_view>

namespace mqbridge::page {

// The service's page, and the description of its interface. Made from the files in
// host/service/page/.

struct File {
  std::string_view name; ///< behind the '/'; empty: the page itself
  std::string_view type;
  std::string_view text;
};

/// nullptr: there is none.
const File* find(std::string_view name);
extern const std::string_view openapi;

/// What the page may do.
constexpr std::string_view policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

} // namespace mqbridge::page
