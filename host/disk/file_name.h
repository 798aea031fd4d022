#pragma once

#include <string_view>

namespace mqbridge {

/// What stands behind the last '/' of a path, which may be one of another system. Refers to `path`.
inline std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1); // npos + 1 is 0
}

} // namespace mqbridge
