#pragma once

#include "rsp/result.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace mqbridge {

/// At most the first `limit` bytes of a file of this host, /proc's included. Error: file.read.
Result<std::string> read_text_file(std::string_view path,
                                   std::size_t limit = std::size_t{64} << 10);

} // namespace mqbridge
