#pragma once

#include "rsp/client/features.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace mqbridge::rsp {

/// Bytes of an object that one qXfer packet asks this stub for.
std::size_t object_piece_size(const Features& features);

/// The packet that asks for the piece at `offset`: `qXfer:OBJECT:read:ANNEX:OFFSET,LENGTH`.
std::string object_piece_request(const Features& features, std::string_view object,
                                 std::string_view annex, std::size_t offset);

} // namespace mqbridge::rsp
