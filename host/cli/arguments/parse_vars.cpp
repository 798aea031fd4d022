#include "host/cli/arguments/parse_vars.h"

#include "host/analysis/unexpected_lengths.h"
#include "host/cli/arguments/option_groups.h"
#include "host/cli/arguments/option_values.h"
#include "host/cli/arguments/parse_dump.h"
#include "host/document/names.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mqbridge {
namespace {

const char* const vars_words_help =
    R"(A variable is a line; one that not all ranks have alike has a line for each value. SET BY is known
where mqbridge reads the MPI's own memory. A value that is known from before the stop says how old
it is.

Exit status: 0 the variables of every rank were read; 1 of some ranks not, or not all; 2 wrong
usage; 3 nothing could be read; 5 output not written; 129, 130, 143 interrupted, every target
released.)";

void add_variable_filters(CLI::App* app, RawOptions& raw) {
  app->option_defaults()->group("Variables");
  add_choice(app, "--kind", raw.kind, "only those of this kind", all_words<VariableKind>());
  add_choice(app, "--verbosity", raw.verbosity, "those for users and tuners up to this level",
             all_words<Verbosity>());
  add_list(app, "--category", raw.categories, "only those in this category", "NAME");
  add_list(app, "--pattern", raw.patterns, "only those of such a name: 'btl_tcp_*'", "GLOB");
  add_list(app, "--source", raw.sources,
           "only those set by: default, environment, file, command-line, override, program", "WHO");
  add_rank_option(app, raw);
}

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

void declare_vars(CLI::App& app, RawOptions& raw) {
  CLI::App* vars = app.add_subcommand("vars", "MPI_T control and performance variables");
  vars->footer(std::string(target_help) + "\n\n" + vars_words_help);
  vars->add_option("TARGET", raw.targets, "[RANK=]ENDPOINT, see below")->type_name("");
  add_job_options(vars, raw);
  add_collect_options(vars, raw);
  add_types_option(vars, raw);
  add_file_options(vars, raw);
  add_image_option(vars, raw);
  add_waiting_options(vars, raw);
  add_holding_options(vars, raw);
  add_variable_filters(vars, raw);
  vars->option_defaults()->group("Comparing");
  vars->add_flag("--diff", raw.diff, "which ranks differ from the others, and in what");
  vars->add_flag("--all", raw.all,
                 "with --diff: what each process has its own of, too, and performance variables");
  add_value(vars, "--unexpected", raw.unexpected,
            "which ranks have more unexpected messages than that, as the MPI counts them", "N");
  add_cache_option(vars, raw);
  add_printing_options(vars, raw, {"text", "json", "ndjson", "tsv", "collect"});
  vars->add_flag("--full", raw.full, "text: descriptions, categories and enumerations, too");
  add_output_options(vars, raw);
}

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
