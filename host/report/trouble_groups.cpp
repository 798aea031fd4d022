#include "host/report/trouble_groups.h"

#include <map>
#include <string_view>

namespace mqbridge {
namespace {

/// With a mark in each place where the node is named.
std::string without_name(std::string_view text, std::string_view node) {
  std::string out;
  while (!text.empty()) {
    const auto at = node.empty() ? std::string_view::npos : text.find(node);
    out += text.substr(0, at);
    if (at == std::string_view::npos)
      break;
    out += '\0';
    text.remove_prefix(at + node.size());
  }
  return out;
}

} // namespace

std::vector<TroubleGroup> group_troubles(std::span<const FindTrouble> troubles) {
  std::vector<TroubleGroup> groups;
  std::map<std::string, std::size_t> known;
  for (const FindTrouble& trouble : troubles) {
    std::string key(trouble.error.code);
    for (const std::string& text : {trouble.error.message, trouble.error.hint})
      key += '\n' + without_name(text, trouble.node);
    const auto [at, is_new] = known.try_emplace(std::move(key), groups.size());
    if (is_new)
      groups.push_back({&trouble, {}, 0});
    groups[at->second].nodes.push_back(trouble.node);
    groups[at->second].processes += trouble.processes;
  }
  return groups;
}

} // namespace mqbridge
