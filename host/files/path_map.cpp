#include "host/files/path_map.h"

namespace mqbridge {

std::optional<std::string> map_path(const PathRule& rule, std::string_view path) {
  std::string_view from = rule.first;
  while (from.size() > 1 && from.ends_with('/'))
    from.remove_suffix(1);
  if (from.empty() || !path.starts_with(from))
    return std::nullopt;
  const auto rest = path.substr(from.size());
  if (!rest.empty() && rest.front() != '/' && from != "/")
    return std::nullopt;
  std::string mapped = rule.second;
  if (!mapped.ends_with('/') && !rest.starts_with('/') && !rest.empty())
    mapped += '/';
  return mapped.append(rest);
}

} // namespace mqbridge
