#pragma once

#include <string_view>

namespace mqbridge {

/// The part of a path behind the last '/'. The path may be of another system. Refers to `path`.
inline std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1); // npos + 1 is 0
}

} // namespace mqbridge
