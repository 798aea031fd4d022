#include "rsp/client/features.h"

#include "rsp/limits.h"

#include <algorithm>
#include <fmt/format.h>

namespace mqbridge::rsp {
namespace {

/// Bytes of a reply beside the data: `$`, the letter, `#` and the checksum.
constexpr std::size_t around_object_data = 5;

} // namespace

std::size_t object_piece_size(const Features& features) {
  return std::min(features.packet_size - around_object_data, limits::piece);
}

std::string object_piece_request(const Features& features, std::string_view object,
                                 std::string_view annex, std::size_t offset) {
  return fmt::format("qXfer:{}:read:{}:{:x},{:x}", object, annex, offset,
                     object_piece_size(features));
}

} // namespace mqbridge::rsp
