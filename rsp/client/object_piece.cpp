#include "rsp/client/object_piece.h"

#include <algorithm>
#include <fmt/format.h>

namespace mqbridge::rsp {
namespace {

/// What a reply needs besides the data: `$`, the letter, `#` and the checksum.
constexpr std::size_t framing = 5;
constexpr std::size_t max_piece = std::size_t{64} << 10;

} // namespace

std::size_t object_piece_size(const Features& features) {
  return std::min(features.packet_size - framing, max_piece);
}

std::string object_piece_request(const Features& features, std::string_view object,
                                 std::string_view annex, std::size_t offset) {
  return fmt::format("qXfer:{}:read:{}:{:x},{:x}", object, annex, offset,
                     object_piece_size(features));
}

} // namespace mqbridge::rsp
