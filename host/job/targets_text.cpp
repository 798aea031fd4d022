#include "host/job/quoted_words.h"
#include "host/job/targets_file.h"
#include "rsp/packet/printable.h"

#include <algorithm>
#include <fmt/format.h>
#include <system_error>

namespace mqbridge {
namespace {

constexpr std::string_view heading =
    "# Targets of mqbridge, for --targets: RANK TARGET [key=value...], a line each.\n";

constexpr std::size_t most_comment = 1024;

std::string absolute_text(const std::filesystem::path& path) {
  std::error_code error;
  const auto whole = std::filesystem::absolute(path, error);
  return (error ? path : whole).string();
}

std::string line_of(const TargetSpec& target) {
  std::string line = target.rank ? std::to_string(*target.rank) : "-";
  const auto add = [&line](std::string_view word) { line += " " + quote_in_line(word); };
  add(target.text());
  const auto& keys = target.keys;
  if (keys.job)
    add("job=" + *keys.job);
  for (const auto& sysroot : keys.sysroots)
    add("sysroot=" + absolute_text(sysroot));
  for (const auto& types : keys.types)
    add("types=" + absolute_text(types));
  if (keys.dll)
    add("dll=" + absolute_text(*keys.dll));
  if (keys.node_command)
    add("node-command=" + *keys.node_command);
  return line;
}

} // namespace

Result<std::string> targets_text(std::span<const TargetSpec> targets,
                                 std::span<const FindTrouble> faults) {
  std::string text(heading);
  for (const auto& [node, error, processes] : faults)
    text += printable(fmt::format("# not looked at: {}{}{}: {}", node, node.empty() ? "" : ": ",
                                  error.code, error.message)
                          .substr(0, most_comment)) +
            '\n';
  for (const TargetSpec& target : targets) {
    const auto line = line_of(target);
    if (std::any_of(line.begin(), line.end(), is_control))
      return fail("targets.unwritable",
                  fmt::format("{}: the target, or a key of it, holds a control character, which no "
                              "line of a targets file can",
                              target.text()),
                  "give it another name, or name it on the command line");
    text += line + '\n';
  }
  return text;
}

} // namespace mqbridge
