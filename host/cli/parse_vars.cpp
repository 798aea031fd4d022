#include "host/cli/parse_vars.h"

#include "host/analysis/unexpected_lengths.h"
#include "host/cli/option_values.h"
#include "host/cli/parse_dump.h"
#include "host/document/names.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mqbridge {
namespace {

/// "command-line": a word for a shell.
Result<std::vector<std::string>> parse_sources(const std::vector<std::string>& words) {
  std::vector<std::string> sources;
  for (std::string word : words) {
    std::ranges::replace(word, '-', ' ');
    if (std::ranges::find(variable_setters, word) == std::end(variable_setters))
      return fail("usage.value",
                  fmt::format("--source {}: nobody of this name sets a variable", word),
                  fmt::format("one of {}", fmt::join(variable_setters, ", ")));
    sources.push_back(std::move(word));
  }
  return sources;
}

Result<VariableFilter> parse_variable_filter(const RawOptions& raw) {
  auto sources = parse_sources(raw.sources);
  if (!sources)
    return forward(std::move(sources));
  return VariableFilter{value_named<Verbosity>(raw.verbosity), raw.categories, raw.patterns,
                        std::move(*sources), value_named<VariableKind>(raw.kind)};
}

/// A number of messages: none is one, too.
Result<std::optional<std::uint64_t>> parse_length(const std::string& text) {
  std::uint64_t length = 0;
  const auto* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, length);
  if (text.empty())
    return std::optional<std::uint64_t>();
  if (error != std::errc() || end != last)
    return fail("usage.value", fmt::format("--unexpected {}: expected a number of messages", text),
                "write --unexpected 100; 0 shows every queue that is not empty");
  return std::optional(length);
}

} // namespace

Result<DumpCommand> parse_vars(const RawOptions& raw) {
  auto command = parse_look(raw, false);
  if (!command)
    return command;
  auto filter = parse_variable_filter(raw);
  if (!filter)
    return forward(std::move(filter));
  auto length = parse_length(raw.unexpected);
  if (!length)
    return forward(std::move(length));
  if (raw.all && !raw.diff)
    return fail("usage", "mqbridge vars: --all is about what --diff leaves out, which is not there",
                "mqbridge vars --diff --all ...");
  if (raw.diff && *length)
    return fail("usage", "mqbridge vars: --diff and --unexpected are two reports",
                "ask for one after the other");
  command->options.stacks = false;
  command->options.variables = true;
  command->options.filters.variables = std::move(*filter);
  if (auto& variables = command->options.filters.variables;
      *length && variables == VariableFilter()) {
    variables.kind = VariableKind::performance; // nothing else is of use
    const auto patterns = unexpected_length_patterns();
    variables.patterns.assign(patterns.begin(), patterns.end());
  }
  command->variables = {raw.diff, raw.all, *length};
  return command;
}

} // namespace mqbridge
