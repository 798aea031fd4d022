#include "host/cli/parse.h"

#include "host/cli/collector_words.h"
#include "host/cli/config.h"
#include "host/cli/option_values.h"
#include "host/cli/parse_job.h"
#include "host/cli/parse_verdict.h"
#include "host/cli/raw_options.h"
#include "host/document/names.h"
#include "host/dump/filters.h"
#include "host/dump/ranges.h"
#include "host/report/queue_words.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <sstream>

namespace mqbridge {
namespace {

/// A dead process has nothing to wait for.
Result<void> check_run_until(const DumpOptions& options, std::span<const TargetSpec> targets) {
  const auto core = std::find_if(targets.begin(), targets.end(),
                                 [](const TargetSpec& target) { return target.is_core(); });
  if (!options.run_until || core == targets.end())
    return {};
  return fail("usage", fmt::format("--run-until lets a process run, and {} is dead", core->text()),
              "leave --run-until out, or dump live processes by themselves");
}

/// An option that was not given leaves its default.
Result<void> set_seconds(std::string_view option, const std::string& text, auto& value) {
  if (text.empty())
    return {};
  auto seconds = parse_seconds(option, text);
  if (!seconds)
    return forward(std::move(seconds));
  value = *seconds;
  return {};
}

Result<void> set_files(const RawOptions& raw, DumpOptions& options) {
  auto sysroots = parse_directories("--sysroot", raw.sysroots);
  if (!sysroots)
    return forward(std::move(sysroots));
  options.paths.sysroots = std::move(*sysroots);
  auto debug_dirs = parse_directories("--debug-dir", raw.debug_dirs);
  if (!debug_dirs)
    return forward(std::move(debug_dirs));
  options.paths.debug_dirs = std::move(*debug_dirs);
  options.types_files.assign(raw.types.begin(), raw.types.end());
  for (const std::string& text : raw.path_maps) {
    auto map = parse_path_map("--path-map", text);
    if (!map)
      return forward(std::move(map));
    options.paths.path_map.push_back(std::move(*map));
  }
  for (const std::string& text : raw.images) {
    auto image = parse_image("--image", text);
    if (!image)
      return forward(std::move(image));
    options.images.push_back(std::move(*image));
  }
  options.fetch.mode = raw.fetch_files == "always"  ? FetchMode::always
                       : raw.fetch_files == "never" ? FetchMode::never
                                                    : FetchMode::ask;
  return {};
}

Result<void> set_dll(const RawOptions& raw, DumpOptions& options) {
  options.dll.path_map = options.paths.path_map;
  if (!raw.dll.empty())
    options.dll.given = raw.dll;
  if (raw.config.empty())
    return {};
  auto config = read_config(raw.config);
  if (!config)
    return forward(std::move(config));
  options.dll.configured = std::move(config->dlls);
  options.dll.allowed_directories = std::move(config->allowed_directories);
  return {};
}

CacheMode parse_cache(std::string_view text) {
  return text == "none" ? CacheMode::none : text == "page" ? CacheMode::page : CacheMode::full;
}

Result<DumpOptions> common_options(const RawOptions& raw) {
  DumpOptions options;
  if (auto set = set_files(raw, options); !set)
    return forward(std::move(set));
  if (auto set = set_dll(raw, options); !set)
    return forward(std::move(set));
  if (auto set = set_seconds("--connect-timeout", raw.connect_timeout, options.connect_timeout);
      !set)
    return forward(std::move(set));
  if (auto set = set_seconds("--timeout", raw.timeout, options.silence_timeout); !set)
    return forward(std::move(set));
  auto launch = parse_launch(raw);
  if (!launch)
    return forward(std::move(launch));
  options.launch = std::move(*launch);
  options.launch.connect_timeout = options.connect_timeout;
  options.cache = parse_cache(raw.cache);
  options.sandbox = !raw.no_sandbox;
  if (!raw.run_until.empty()) {
    auto until = parse_run_until("--run-until", raw.run_until);
    if (!until)
      return forward(std::move(until));
    options.run_until = *until;
  }
  return options;
}

Result<std::vector<std::int64_t>> parse_integers(std::string_view option,
                                                 const std::vector<std::string>& texts) {
  std::vector<std::int64_t> values;
  for (const std::string& text : texts) {
    auto value = parse_integer(option, text);
    if (!value)
      return forward(std::move(value));
    values.push_back(*value);
  }
  return values;
}

Result<Filters> parse_filters(const RawOptions& raw) {
  Filters filters;
  for (const OpClass op_class : op_classes)
    if (std::count(raw.queues.begin(), raw.queues.end(), name_of(op_class)) > 0 ||
        std::count(raw.queues.begin(), raw.queues.end(), short_name(op_class)) > 0)
      filters.queues.push_back(op_class);
  filters.communicators = raw.communicators;
  for (const std::string& list : raw.ranks) {
    auto ranks = parse_ranges(list);
    if (!ranks)
      return forward(std::move(ranks));
    filters.ranks.insert(filters.ranks.end(), ranks->begin(), ranks->end());
  }
  auto tags = parse_integers("--tag", raw.tags);
  if (!tags)
    return forward(std::move(tags));
  filters.tags = std::move(*tags);
  auto peers = parse_integers("--peer", raw.peers);
  if (!peers)
    return forward(std::move(peers));
  filters.peers = std::move(*peers);
  return filters;
}

Result<void> set_limits(const RawOptions& raw, DumpCommand& command) {
  command.options.consistent = raw.consistent;
  if (raw.consistent && !raw.run_until.empty())
    return fail("usage", "--consistent and --run-until exclude each other",
                "dump what its stub has started by itself");
  if (raw.consistent) // one that hangs must not hold all others
    command.options.max_stop = std::chrono::seconds(10);
  if (auto set = set_seconds("--max-stop", raw.max_stop, command.options.max_stop); !set)
    return set;
  if (!raw.max_operations.empty()) {
    auto count = parse_count("--max-operations", raw.max_operations);
    if (!count)
      return forward(std::move(count));
    command.options.max_operations = *count;
  }
  if (!raw.max_bytes.empty()) {
    auto bytes = parse_bytes("--max-bytes", raw.max_bytes);
    if (!bytes)
      return forward(std::move(bytes));
    command.options.max_bytes = *bytes;
  }
  if (auto set = set_seconds("--max-walk", raw.max_walk, command.options.max_walk); !set)
    return set;
  if (!raw.jobs.empty()) {
    auto count = parse_count("--jobs", raw.jobs);
    if (!count)
      return forward(std::move(count));
    command.options.jobs = *count;
  }
  if (!raw.show.empty()) {
    auto show = parse_count_or_all("--show", raw.show);
    if (!show)
      return forward(std::move(show));
    command.show = *show;
  }
  return {};
}

Result<std::optional<CollectChoice>> collect_choice(const RawOptions& raw,
                                                    std::span<const TargetSpec> named) {
  if (!raw.collect && !raw.collector.empty())
    return fail("usage", "--collector names a program for --collect, which is not there",
                "mqbridge dump --collect --collector PATH ...");
  if (!raw.collect)
    return std::optional<CollectChoice>();
  if (auto checked = check_collectable(named); !checked)
    return forward(std::move(checked));
  if (!raw.save.empty() && named.empty() && raw.mpirun.empty())
    return fail("usage",
                "--collect: the nodes find the ranks themselves, and --save has none to write",
                "save them first: mqbridge ranks ... --save FILE");
  auto words = collector_words(raw);
  if (!words)
    return forward(std::move(words));
  return std::optional(CollectChoice{raw.collector, std::move(*words)});
}

Result<Command> dump_command(const RawOptions& raw, bool queues) {
  auto choice = parse_choice(raw, false);
  if (!choice)
    return forward(std::move(choice));
  auto options = common_options(raw);
  if (!options)
    return forward(std::move(options));
  auto filters = parse_filters(raw);
  if (!filters)
    return forward(std::move(filters));
  auto verdict = parse_verdict(raw);
  if (!verdict)
    return forward(std::move(verdict));
  DumpCommand command;
  command.verdict = *verdict;
  command.options = std::move(*options);
  command.options.filters = std::move(*filters);
  command.options.filters.no_queues = !queues;
  command.options.queues = queues;
  command.options.stacks = !raw.no_stacks;
  command.targets = std::move(*choice);
  if (auto checked = check_run_until(command.options, command.targets.named); !checked)
    return forward(std::move(checked));
  if (auto set = set_limits(raw, command); !set)
    return forward(std::move(set));
  auto collect = collect_choice(raw, command.targets.named);
  if (!collect)
    return forward(std::move(collect));
  command.collect = std::move(*collect);
  command.format = parse_format(raw.format);
  command.output = raw.output;
  command.summary = raw.summary;
  command.full = raw.full;
  command.raw = raw.raw;
  command.stats = raw.stats;
  command.all_threads = raw.threads == "all";
  command.color = parse_when(raw.color);
  command.progress = parse_when(raw.progress);
  command.trace = raw.trace;
  return Command(std::move(command));
}

Result<Command> doctor_command(const RawOptions& raw) {
  auto choice = parse_choice(raw, false);
  if (!choice)
    return forward(std::move(choice));
  auto options = common_options(raw);
  if (!options)
    return forward(std::move(options));
  if (auto checked = check_run_until(*options, choice->named); !checked)
    return forward(std::move(checked));
  const bool whole_job = choice->job || !raw.targets_file.empty();
  return Command(DoctorCommand{std::move(*choice), whole_job, std::move(*options), raw.output,
                               parse_when(raw.color), raw.trace});
}

Result<Command> ranks_command(const RawOptions& raw, std::vector<std::string> words) {
  auto choice = parse_choice(raw, true);
  if (!choice)
    return forward(std::move(choice));
  if (!choice->job || !choice->named.empty())
    return fail("usage", "mqbridge ranks: --targets names the targets already",
                "leave --targets out; or look at what it names: mqbridge doctor --targets FILE");
  auto options = common_options(raw);
  if (!options)
    return forward(std::move(options));
  return Command(RanksCommand{std::move(*choice), std::move(*options), parse_format(raw.format),
                              raw.full, raw.output, parse_when(raw.color), raw.trace,
                              std::move(words)});
}

std::optional<std::filesystem::path> given(const std::string& path) {
  return path.empty() ? std::nullopt : std::optional<std::filesystem::path>(path);
}

Command types_command(const CLI::App& types, const RawOptions& raw) {
  if (types.got_subcommand("make"))
    return TypesMakeCommand{raw.mpi,
                            raw.compiler,
                            {raw.include_directories.begin(), raw.include_directories.end()},
                            given(raw.source),
                            given(raw.library),
                            raw.output,
                            !raw.no_sandbox};
  if (types.got_subcommand("check"))
    return TypesCheckCommand{raw.types_file, given(raw.library), !raw.no_sandbox};
  return TypesShowCommand{raw.types_file, !raw.no_sandbox};
}

/// "mqbridge types make": the command that the arguments got as far as.
std::string command_name(const CLI::App& app) {
  std::string name = "mqbridge";
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    name += " " + at->get_name();
  }
  return name;
}

Failure wrong_usage(const CLI::App& app, const CLI::ParseError& error) {
  const std::string command = command_name(app);
  // A word that is not known explains more than what is missing because of it.
  const std::vector<std::string> unknown = app.remaining(true);
  const std::string message =
      unknown.empty() ? std::string(error.what())
                      : fmt::format("\"{}\" is not a command or option here", unknown.front());
  return fail("usage", fmt::format("{}: {}", command, message), command + " --help");
}

/// `help [COMMAND]` is COMMAND --help. Error: usage (no such command).
Result<std::string> help_of(std::span<const char* const> command, std::string_view version) {
  CLI::App app("", "mqbridge");
  RawOptions raw;
  declare_commands(app, raw, version);
  const CLI::App* at = &app;
  std::string before; // the names of the commands that lead to it
  for (const std::string_view word : command) {
    if (word == "-h" || word == "--help")
      continue;
    before += (before.empty() ? "" : " ") + at->get_name();
    const auto found =
        at->get_subcommands([&](const CLI::App* each) { return each->get_name() == word; });
    if (found.empty())
      return fail("usage", fmt::format("mqbridge help: \"{}\" is not a command", word),
                  before + " --help");
    at = found.front();
  }
  return at->help(before);
}

} // namespace

Result<Command> parse_command_line(std::span<const char* const> arguments,
                                   std::string_view version) {
  // Not left to CLI11: to it the word behind `help` begins a command of its own.
  if (!arguments.empty() && std::string_view(arguments.front()) == "help") {
    auto text = help_of(arguments.subspan(1), version);
    if (!text)
      return forward(std::move(text));
    return Command(PrintCommand{std::move(*text)});
  }
  CLI::App app("", "mqbridge");
  RawOptions raw;
  declare_commands(app, raw, version);
  try {
    // CLI11 takes the words from the back.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::Success& wanted) {
    std::ostringstream text;
    app.exit(wanted, text, text);
    return Command(PrintCommand{text.str()});
  } catch (const CLI::ParseError& error) {
    return wrong_usage(app, error);
  }
  if (raw.summary && raw.full)
    return fail("usage", "mqbridge dump: --summary and --full contradict each other",
                "write one of them");
  if (app.got_subcommand("dump") || app.got_subcommand("stacks"))
    return dump_command(raw, app.got_subcommand("dump"));
  if (app.got_subcommand("analyze"))
    return analyze_command(raw);
  if (app.got_subcommand("doctor"))
    return doctor_command(raw);
  if (app.got_subcommand("ranks"))
    return ranks_command(raw, {arguments.begin() + 1, arguments.end()});
  return types_command(*app.get_subcommand("types"), raw);
}

std::string help_text(std::string_view version) {
  CLI::App app("", "mqbridge");
  RawOptions raw;
  declare_commands(app, raw, version);
  return app.help();
}

} // namespace mqbridge
