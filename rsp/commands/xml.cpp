#include "rsp/commands/xml.h"

#include "rsp/limits.h"

#include <algorithm>
#include <fmt/format.h>

namespace mqbridge::rsp {

std::string load_xml(pugi::xml_document& document, std::string_view text) {
  const auto marks =
      std::count_if(text.begin(), text.end(), [](char c) { return c == '<' || c == '='; });
  if (static_cast<std::size_t>(marks) > limits::xml_marks)
    return fmt::format("more than {} elements and attributes", limits::xml_marks);
  const auto parsed =
      document.load_buffer(text.data(), text.size(), pugi::parse_default, pugi::encoding_utf8);
  return parsed ? std::string() : parsed.description();
}

} // namespace mqbridge::rsp
