#include "host/collect/last_words.h"

#include "rsp/packet/printable.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

namespace mqbridge {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    line = line.substr(0, line.find_last_not_of(" \r") + 1);
    if (!line.empty())
      lines.push_back(line);
  }
  return lines;
}

/// Whether `node` stands in `line` as a whole name: n1 does not in n17.
bool names(std::string_view line, std::string_view node) {
  const auto continues = [&](std::size_t at) {
    const char c = at < line.size() ? line[at] : ' ';
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  };
  const auto is_domain = [&](std::size_t at) {
    return at < line.size() && line[at] == '.' && continues(at + 1);
  };
  for (auto at = line.find(node); at != std::string_view::npos; at = line.find(node, at + 1)) {
    const auto end = at + node.size();
    const bool begins = at == 0 || (!continues(at - 1) && line[at - 1] != '.');
    if (begins && !continues(end) && !is_domain(end))
      return true;
  }
  return false;
}

} // namespace

std::string last_words(std::string_view said, std::string_view node, std::optional<int> label) {
  constexpr std::size_t most_lines = 3;
  constexpr std::size_t most_of_a_line = 200;
  auto lines = lines_of(said);
  if (label) {
    const auto own_label = fmt::format("{}: ", *label);
    std::vector<std::string_view> own;
    for (const auto line : lines)
      if (const auto begin = line.find_first_not_of(' ');
          line.substr(begin).starts_with(own_label)) // srun aligns its numbers
        own.push_back(line.substr(begin + own_label.size()));
      else if (names(line, node))
        own.push_back(line);
    if (!own.empty())
      lines = std::move(own);
  }
  std::vector<std::string> words;
  for (auto i = lines.size() - std::min(lines.size(), most_lines); i < lines.size(); ++i)
    words.push_back(printable(lines[i].substr(0, most_of_a_line)));
  return fmt::format("{}", fmt::join(words, "; "));
}

std::string hint_for(std::string_view words) {
  for (const std::string_view missing : {"No such file", "not found"})
    if (words.find(missing) != std::string_view::npos)
      return "--collector PATH: where mqbridge is on the nodes, on a file system that they share";
  return "log in to that node by hand in the same way, and start mqbridge --version there";
}

} // namespace mqbridge
