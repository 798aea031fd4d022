#include "host/bridge/kept_objects.h"

#include "rsp/limits.h"
#include "rsp/packet/hex.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>

namespace mqbridge {
namespace {

struct ObjectPiece {
  std::string object; ///< "qXfer:auxv:read::"
  std::size_t offset = 0;
  std::size_t length = 0;
};

std::optional<ObjectPiece> parse_piece(const std::string& request) {
  const auto colon = request.rfind(':');
  const auto comma = request.find(',', colon);
  if (colon == std::string::npos || comma == std::string::npos)
    return std::nullopt;
  const std::string_view all = request;
  const auto offset = rsp::parse_hex(all.substr(colon + 1, comma - colon - 1));
  const auto length = rsp::parse_hex(all.substr(comma + 1));
  if (!offset || !length)
    return std::nullopt;
  return ObjectPiece{request.substr(0, colon + 1), *offset, *length};
}

} // namespace

Result<std::string> KeptObjects::answer(const std::string& request) {
  const auto asked = parse_piece(request);
  if (!asked)
    return stub_.request(request);
  auto known = objects_.find(asked->object);
  if (known == objects_.end()) {
    auto object = read(asked->object);
    if (!object)
      return object;
    // The stub's own words, where it has no such object, or one of a strange size.
    if (object->empty())
      return stub_.request(request);
    known = objects_.emplace(asked->object, std::move(*object)).first;
  }
  const std::string& object = known->second;
  if (asked->offset >= object.size())
    return "l";
  const auto count = std::min(asked->length, object.size() - asked->offset);
  return (asked->offset + count == object.size() ? "l" : "m") + object.substr(asked->offset, count);
}

std::string_view KeptObjects::libraries() const {
  constexpr std::string_view name = "qXfer:libraries-svr4:read:";
  const auto found = objects_.lower_bound(std::string(name));
  return found != objects_.end() && found->first.starts_with(name) ? std::string_view(found->second)
                                                                   : std::string_view();
}

/// All of it; empty: it could not be read as a whole.
Result<std::string> KeptObjects::read(const std::string& object) {
  std::string whole;
  while (whole.size() < rsp::limits::other_object) {
    constexpr std::size_t framing = 16;
    const auto piece = std::min(packet_size_ - framing, rsp::limits::piece);
    auto reply = stub_.request(fmt::format("{}{:x},{:x}", object, whole.size(), piece));
    if (!reply)
      return reply;
    if (reply->empty() || (reply->front() != 'm' && reply->front() != 'l'))
      return "";
    whole += reply->substr(1);
    if (reply->front() == 'l')
      return whole;
    if (reply->size() == 1)
      return "";
  }
  return "";
}

} // namespace mqbridge
