#include "rsp/packet/file_reply.h"

#include "rsp/packet/hex.h"

#include <algorithm>
#include <limits>

namespace mqbridge::rsp {
namespace {

/// Removes the front of `text` up to `separator` and returns it; all of it if there is none.
std::string_view take_until(std::string_view& text, char separator) {
  const std::string_view head = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(text.size(), head.size() + 1));
  return head;
}

} // namespace

std::optional<FileReply> parse_file_reply(std::string_view reply) {
  if (!take_until(reply, 'F').empty())
    return std::nullopt;
  std::string_view numbers = take_until(reply, ';');
  std::string_view result = take_until(numbers, ',');
  const std::string_view error = take_until(numbers, ',');
  const bool negative = result.starts_with('-');
  result.remove_prefix(negative ? 1 : 0);
  const auto magnitude = parse_hex(result);
  const auto error_number = error.empty() ? std::uint64_t{0} : parse_hex(error);
  if (!magnitude || *magnitude > std::numeric_limits<std::int64_t>::max() || !error_number)
    return std::nullopt;
  const auto value = static_cast<std::int64_t>(*magnitude);
  return FileReply{negative ? -value : value, *error_number, reply};
}

} // namespace mqbridge::rsp
