#include "host/document/place.h"

#include "rsp/packet/printable.h"

#include <fmt/format.h>

namespace mqbridge {

std::string Place::text() const {
  constexpr std::size_t longest_key = 64;
  std::string text = outer == nullptr ? std::string() : outer->text();
  if (index)
    return text + fmt::format("[{}]", *index);
  if (!key.empty())
    text += (text.empty() ? "" : ".") + printable(key.substr(0, longest_key));
  return text;
}

} // namespace mqbridge
