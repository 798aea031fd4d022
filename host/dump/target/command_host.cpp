#include "host/dump/target/command_host.h"

#include "host/disk/file_name.h"

#include <algorithm>
#include <vector>

namespace mqbridge {
namespace {

/// Characters that a shell leaves as they are, and that a host's name, a user's or an option has.
bool is_plain(std::string_view word) {
  return std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_.:/@=,+%").find(c) != std::string_view::npos;
  });
}

/// Words separated by blanks, up to the first that means something to a shell.
std::vector<std::string_view> plain_words(std::string_view command) {
  std::vector<std::string_view> words;
  while (true) {
    const auto begin = command.find_first_not_of(" \t");
    if (begin == std::string_view::npos)
      return words;
    command.remove_prefix(begin);
    const auto word = command.substr(0, command.find_first_of(" \t"));
    if (!is_plain(word))
      return words;
    words.push_back(word);
    command.remove_prefix(word.size());
  }
}

/// "[ssh://][USER@]HOST[:PORT]"; a port stands only in the first form.
std::optional<std::string> host_of_destination(std::string_view word) {
  constexpr std::string_view scheme = "ssh://";
  const bool is_uri = word.starts_with(scheme);
  if (is_uri)
    word.remove_prefix(scheme.size());
  word.remove_prefix(word.rfind('@') + 1); // npos + 1 is 0
  if (is_uri)
    word = word.substr(0, word.rfind(':'));
  if (word.empty() || word.find_first_of("/=,%") != std::string_view::npos)
    return std::nullopt;
  return std::string(word);
}

/// The first word that is neither an option nor the value of one. `with_value`: letters of the
/// options that have one, behind them or in the next word.
std::optional<std::string> host_of_login(const std::vector<std::string_view>& words,
                                         std::string_view with_value) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto word = words[i];
    if (!word.starts_with('-') || word.size() < 2)
      return host_of_destination(word);
    const auto option = word.find_first_of(with_value, 1);
    if (option + 1 == word.size()) // npos + 1 is 0
      ++i;
  }
  return std::nullopt;
}

std::optional<std::string> host_of_srun(const std::vector<std::string_view>& words) {
  constexpr std::string_view long_option = "--nodelist=";
  for (std::size_t i = 1; i < words.size(); ++i) {
    std::string_view nodes;
    if (words[i] == "-w" || words[i] == "--nodelist")
      nodes = i + 1 < words.size() ? words[i + 1] : "";
    else if (words[i].starts_with(long_option))
      nodes = words[i].substr(long_option.size());
    else
      continue;
    return host_of_destination(nodes);
  }
  return std::nullopt;
}

} // namespace

std::optional<std::string> command_host(std::string_view command) {
  const auto words = plain_words(command);
  if (words.empty())
    return std::nullopt;
  const auto program = file_name(words.front());
  if (program == "ssh")
    return host_of_login(words, "bBcDeEFIiJLlmOoPpQRSWw");
  if (program == "rsh")
    return host_of_login(words, "l");
  if (program == "srun")
    return host_of_srun(words);
  return std::nullopt;
}

} // namespace mqbridge
