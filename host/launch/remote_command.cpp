#include "host/launch/remote_command.h"

#include <algorithm>

namespace mqbridge {
namespace {

/// The options of ssh(1) that have an argument, in the same word or in the next one.
constexpr std::string_view with_argument = "BbcDEeFIiJLlmOoPpQRSWw";

/// Whether the argument of the last option in `word` ("-F", "-xp") is the next word.
bool takes_next(std::string_view word) {
  const auto option = word.find_first_of(with_argument, 1);
  return option != word.npos && option + 1 == word.size();
}

std::vector<std::string> ssh_host(std::span<const std::string_view> arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto word = arguments[i];
    if (word == "--" && i + 1 < arguments.size())
      return {std::string(arguments[i + 1])};
    if (!word.starts_with('-'))
      return {std::string(word)};
    i += takes_next(word) ? 1 : 0;
  }
  return {};
}

std::vector<std::string> srun_hosts(std::span<const std::string_view> arguments) {
  constexpr std::string_view option = "--nodelist=";
  const auto word = std::ranges::find_if(
      arguments, [&](std::string_view argument) { return argument.starts_with(option); });
  if (word == arguments.end() || word->find('[') != word->npos) // ranges are Slurm's to expand
    return {};
  std::vector<std::string> hosts;
  for (auto rest = word->substr(option.size()); !rest.empty();) {
    hosts.emplace_back(rest.substr(0, rest.find(',')));
    rest.remove_prefix(std::min(hosts.back().size() + 1, rest.size()));
  }
  return hosts;
}

} // namespace

std::vector<std::string> remote_hosts(std::span<const std::string_view> command) {
  if (command.empty())
    return {};
  const auto program = command.front().substr(command.front().rfind('/') + 1); // npos + 1 is 0
  if (program == "ssh")
    return ssh_host(command.subspan(1));
  return program == "srun" ? srun_hosts(command.subspan(1)) : std::vector<std::string>();
}

} // namespace mqbridge
