#include "host/bridge/kept_objects.h"

#include "host/bridge/requests.h"
#include "rsp/limits.h"

#include <fmt/format.h>
#include <utility>

namespace mqbridge {

Result<std::string> KeptObjects::answer(const std::string& request) {
  const auto colon = request.rfind(':') + 1;
  const auto asked = parse_two_numbers(std::string_view(request).substr(colon));
  if (!asked)
    return foreseen_.answer(request);
  const std::string name = request.substr(0, colon); // "qXfer:auxv:read::"
  auto known = objects_.find(name);
  if (known == objects_.end()) {
    auto object = read(name);
    if (!object)
      return object;
    // The stub's own words, where it has no such object, or one of a strange size.
    if (object->empty())
      return foreseen_.answer(request);
    known = objects_.emplace(name, std::move(*object)).first;
  }
  const std::string& object = known->second;
  if (asked->first >= object.size())
    return "l";
  const auto data =
      fitting(std::string_view(object).substr(asked->first, asked->second), features_.packet_size);
  return (asked->first + data.size() == object.size() ? "l" : "m") + std::string(data);
}

std::string KeptObjects::packet(const std::string& object, std::size_t from) const {
  return fmt::format("{}{:x},{:x}", object, from, rsp::object_piece_size(features_));
}

std::string KeptObjects::first_packet(const std::string& object) const {
  return packet(object, 0);
}

std::string_view KeptObjects::kept(std::string_view name) const {
  const auto found = objects_.lower_bound(std::string(name));
  return found != objects_.end() && found->first.starts_with(name) ? std::string_view(found->second)
                                                                   : std::string_view();
}

/// All of it; empty: it could not be read as a whole.
Result<std::string> KeptObjects::read(const std::string& object) {
  std::string whole;
  while (whole.size() < rsp::limits::other_object) {
    auto reply = foreseen_.answer(packet(object, whole.size()));
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
