#pragma once

#include <string_view>

namespace mqbridge::page {

// The page of a report, around its compressed document. Made from the files in host/report/page/.
extern const std::string_view before_document;
extern const std::string_view after_document;

} // namespace mqbridge::page
