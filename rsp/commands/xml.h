#pragma once

#include <pugixml.hpp>
#include <string>
#include <string_view>

namespace mqbridge::rsp {

/// Parses a document of a stub. Bounded: a document whose tree would take the host's memory is
/// refused before the tree is built (limits::xml_marks); its own entities are not expanded. Returns
/// what is wrong with it; empty: nothing.
std::string load_xml(pugi::xml_document& document, std::string_view text);

} // namespace mqbridge::rsp
