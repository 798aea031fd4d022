#pragma once

#include <pugixml.hpp>
#include <string>
#include <string_view>

namespace mqbridge::rsp {

/// Takes a document of a stub apart. Bounded: one whose tree would take the host's memory is
/// refused before it is built (limits::xml_marks); entities of its own are not expanded. Returns
/// what is wrong with it; empty: nothing.
std::string load_xml(pugi::xml_document& document, std::string_view text);

} // namespace mqbridge::rsp
