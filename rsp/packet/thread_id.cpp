#include "rsp/packet/thread_id.h"

#include "rsp/packet/hex.h"

#include <limits>

namespace mqbridge::rsp {
namespace {

std::optional<std::int64_t> parse_part(std::string_view text) {
  if (text == "-1")
    return -1;
  const auto value = parse_hex(text);
  if (!value || *value > std::numeric_limits<std::int64_t>::max())
    return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

} // namespace

std::optional<ThreadId> parse_thread_id(std::string_view text) {
  ThreadId id;
  if (text.starts_with('p')) {
    const auto dot = text.find('.');
    const auto pid = parse_part(text.substr(1, dot == std::string_view::npos ? dot : dot - 1));
    if (!pid)
      return std::nullopt;
    id.pid = *pid;
    if (dot == std::string_view::npos) {
      id.tid = -1;
      return id;
    }
    text.remove_prefix(dot + 1);
  }
  const auto tid = parse_part(text);
  if (!tid)
    return std::nullopt;
  id.tid = *tid;
  return id;
}

} // namespace mqbridge::rsp
