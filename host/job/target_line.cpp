#include "host/job/target_line.h"

#include "host/launch/shell_words.h"
#include "host/mqs/dll_policy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <numeric>
#include <span>
#include <system_error>
#include <utility>

namespace mqbridge {
namespace {

constexpr std::array<std::string_view, 5> keys = {"job", "sysroot", "types", "dll", "node-command"};
constexpr std::string_view known_keys = "the keys are job, sysroot, types, dll and node-command";

/// The rank that a word names, empty for "-". nullopt: the word is neither a number nor "-".
std::optional<std::optional<int>> parse_rank(std::string_view text) {
  if (text == "-")
    return std::optional<int>();
  int rank = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (error != std::errc{} || end != text.data() + text.size() || rank < 0)
    return std::nullopt;
  return rank;
}

/// Number of letters to add, leave out or exchange to turn one word into the other.
std::size_t edits_between(std::string_view one, std::string_view other) {
  std::vector<std::size_t> row(other.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < one.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < other.size(); ++j) {
      const std::size_t changed = diagonal + (one[i] == other[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

/// The key that was probably meant; empty: no key is similar.
std::string_view nearest_key(std::string_view text) {
  constexpr std::size_t most_edits = 2;
  if (text.size() > keys.back().size() + most_edits)
    return {};
  const auto nearest = std::min_element(keys.begin(), keys.end(), [&](auto one, auto other) {
    return edits_between(text, one) < edits_between(text, other);
  });
  const auto edits = edits_between(text, *nearest);
  return edits <= most_edits && edits < nearest->size() ? *nearest : std::string_view();
}

/// Shortens a word of the file for a message, which people read.
std::string shown(std::string_view text) {
  constexpr std::size_t most = 60;
  return fmt::format("{}{}", text.substr(0, most), text.size() > most ? "..." : "");
}

} // namespace

std::optional<TargetSpec> TargetLine::read(std::string_view line) {
  faults_.clear();
  auto words = split_target_line(line);
  if (!words) {
    faults_.push_back(std::move(words).error());
    return std::nullopt;
  }
  if (words->empty())
    return std::nullopt;
  TargetSpec target;
  read_rank(words->front(), target);
  if (!faults_.empty() && TargetSpec::parse(words->front().text)) { // the rank is left out
    for (const auto& word : std::span(*words).subspan(1))
      read_key(word, target);
    return std::nullopt;
  }
  if (words->size() == 1) {
    fault(words->front(), "no target stands behind the rank",
          fmt::format("write for example: {} ssh:node7:41822", words->front().text));
    return std::nullopt;
  }
  read_endpoint((*words)[1], target);
  for (const auto& word : std::span(*words).subspan(2))
    read_key(word, target);
  return faults_.empty() ? std::optional(std::move(target)) : std::nullopt;
}

std::vector<LineFault> TargetLine::take_faults() {
  return std::exchange(faults_, {});
}

void TargetLine::read_rank(const QuotedWord& word, TargetSpec& target) {
  if (const auto rank = parse_rank(word.text)) {
    target.rank = *rank;
    return;
  }
  const auto without_rank = TargetSpec::parse(word.text);
  if (!without_rank)
    return fault(word, fmt::format("\"{}\" is no rank", shown(word.text)),
                 "write the rank as a number, or - where it is not known");
  const auto rank = without_rank->rank ? std::to_string(*without_rank->rank) : "-";
  fault(word, fmt::format("no rank stands before the target {}", shown(without_rank->text())),
        fmt::format("write: {} {}", rank, quote_in_line(without_rank->text())));
}

void TargetLine::read_endpoint(const QuotedWord& word, TargetSpec& target) {
  constexpr std::string_view local = "local:";
  auto parsed = TargetSpec::parse(word.text);
  if (!parsed) {
    const bool several =
        word.text.starts_with(local) && word.text.find_first_of(",-") != std::string::npos;
    return fault(word, std::move(parsed.error().message),
                 several ? "write a line of its own for each process"
                         : std::move(parsed.error().hint));
  }
  if (parsed->rank)
    return fault(word, fmt::format("{}= is a second rank", *parsed->rank),
                 fmt::format("write: {}", quote_in_line(parsed->text())));
  target.where = std::move(parsed->where);
}

void TargetLine::read_key(const QuotedWord& word, TargetSpec& target) {
  const std::string_view text = word.text;
  const auto equals = text.find('=');
  const auto key = text.substr(0, equals);
  if (equals == std::string_view::npos)
    return fault(word, fmt::format("\"{}\" is no key=value", shown(text)),
                 target.text().starts_with("exec:")
                     ? "write a command with blanks in quotes: \"exec:COMMAND\""
                     : std::string(known_keys));
  const auto value = text.substr(equals + 1);
  if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
    const auto meant = nearest_key(key);
    return fault(word, fmt::format("the key \"{}\" is not known", shown(key)),
                 meant.empty() ? std::string(known_keys) : fmt::format("did you mean {}=?", meant));
  }
  if (value.empty())
    return fault(word, fmt::format("nothing stands behind {}=", key),
                 fmt::format("write {}=VALUE without a blank, or leave it out", key));
  if (key == "job")
    set_text(word, value, target.keys.job);
  else if (key == "node-command")
    set_node_command(word, value, target);
  else if (key == "types")
    target.keys.types.push_back(directory_ / value);
  else if (key == "sysroot")
    set_sysroot(word, value, target);
  else if (target.keys.dll)
    fault(word, "a second dll= for this target", "leave one of them out");
  else
    target.keys.dll = value == DllPolicy::none ? value : directory_ / value;
}

void TargetLine::set_text(const QuotedWord& word, std::string_view value,
                          std::optional<std::string>& into) {
  if (into)
    return fault(
        word, fmt::format("a second {}= for this target", word.text.substr(0, word.text.find('='))),
        "leave one of them out");
  into = std::string(value);
}

void TargetLine::set_node_command(const QuotedWord& word, std::string_view value,
                                  TargetSpec& target) {
  if (auto words = split_words("node-command", value); !words)
    return fault(word, std::move(words.error().message), std::move(words.error().hint));
  set_text(word, value, target.keys.node_command);
}

/// Checks the directory: if its name is misspelt, every file in it would seem to be missing.
void TargetLine::set_sysroot(const QuotedWord& word, std::string_view value, TargetSpec& target) {
  auto path = directory_ / value;
  if (!is_directory(path))
    return fault(word, fmt::format("{} is no directory", path.string()),
                 "name a directory that is there; relative paths begin at this file's directory");
  target.keys.sysroots.push_back(std::move(path));
}

bool TargetLine::is_directory(const std::filesystem::path& path) {
  const auto known = directories_.find(path);
  if (known != directories_.end())
    return known->second;
  std::error_code error;
  return directories_[path] = std::filesystem::is_directory(path, error);
}

void TargetLine::fault(const QuotedWord& word, std::string what, std::string mend) {
  faults_.push_back({word.column, std::move(what), std::move(mend)});
}

} // namespace mqbridge
