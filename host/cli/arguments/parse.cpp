#include "host/cli/arguments/parse.h"

#include "host/cli/arguments/option_values.h"
#include "host/cli/arguments/parse_dump.h"
#include "host/cli/arguments/parse_handles.h"
#include "host/cli/arguments/parse_job.h"
#include "host/cli/arguments/parse_proxy.h"
#include "host/cli/arguments/parse_run.h"
#include "host/cli/arguments/parse_serve.h"
#include "host/cli/arguments/parse_vars.h"
#include "host/cli/arguments/parse_verdict.h"
#include "host/cli/arguments/raw_options.h"
#include "host/cli/collect/collector_words.h"
#include "host/launch/shell_words.h"
#include "rsp/packet/printable.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <sstream>
#include <utility>

namespace mqbridge {
namespace {

/// Bytes of an unknown word that are compared with the known ones.
constexpr std::size_t longest_meant = 64;

/// A dead process has nothing to wait for.
Result<void> check_run_until(const DumpOptions& options, std::span<const TargetSpec> targets) {
  const auto core = std::find_if(targets.begin(), targets.end(),
                                 [](const TargetSpec& target) { return target.is_core(); });
  if (!options.run_until || core == targets.end())
    return {};
  return fail("usage", fmt::format("--run-until lets a process run, and {} is dead", core->text()),
              "leave --run-until out, or dump live processes by themselves");
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

/// `command`: all of it, except its targets and --collect.
Result<Command> dump_command(const RawOptions& raw, Result<DumpCommand> command) {
  if (!command)
    return forward(std::move(command));
  const bool collects = raw.collect || command->format == Format::collect;
  auto choice = parse_choice(raw, collects ? NoTarget::wrong : NoTarget::sole_job,
                             command->verdict_alone ? "why" : command->name());
  if (!choice)
    return forward(std::move(choice));
  command->targets = std::move(*choice);
  if (auto checked = check_run_until(command->options, command->targets.named); !checked)
    return forward(std::move(checked));
  auto collect = collect_choice(raw, command->targets.named);
  if (!collect)
    return forward(std::move(collect));
  command->collect = std::move(*collect);
  return Command(std::move(*command));
}

Result<Command> doctor_command(const RawOptions& raw) {
  auto choice = parse_choice(raw, NoTarget::wrong);
  if (!choice)
    return forward(std::move(choice));
  auto options = common_options(raw);
  if (!options)
    return forward(std::move(options));
  if (auto checked = check_run_until(*options, choice->named); !checked)
    return forward(std::move(checked));
  const bool whole_job = choice->job || !raw.targets_file.empty();
  return Command(DoctorCommand{std::move(*choice), whole_job, std::move(*options), raw.output,
                               raw.color, raw.trace});
}

Result<Command> ranks_command(const RawOptions& raw, std::vector<std::string> words) {
  auto choice = parse_choice(raw, NoTarget::all_jobs);
  if (!choice)
    return forward(std::move(choice));
  if (!choice->job || !choice->named.empty())
    return fail("usage", "mqbridge ranks: --targets names the targets already",
                "leave --targets out; or look at what it names: mqbridge doctor --targets FILE");
  auto options = common_options(raw);
  if (!options)
    return forward(std::move(options));
  return Command(RanksCommand{std::move(*choice), std::move(*options), raw.format, raw.full,
                              raw.output, raw.color, raw.trace, std::move(words)});
}

std::optional<std::filesystem::path> given(const std::string& path) {
  return path.empty() ? std::nullopt : std::optional<std::filesystem::path>(path);
}

/// A compiler and its options.
Result<std::vector<std::string>> compiler_words(std::string_view option, const std::string& text) {
  auto words = split_words(option, text);
  if (words && words->empty())
    return fail("usage", fmt::format("{} names no compiler", option),
                fmt::format("leave {} out, or name one", option));
  return words;
}

Result<Command> types_command(const CLI::App& types, const RawOptions& raw) {
  if (types.got_subcommand("check"))
    return Command(TypesCheckCommand{raw.types_file, given(raw.library), !raw.no_sandbox});
  if (types.got_subcommand("show"))
    return Command(TypesShowCommand{raw.types_file, !raw.no_sandbox});
  auto compiler = compiler_words("--cc", raw.compiler);
  if (!compiler)
    return forward(std::move(compiler));
  return Command(TypesMakeCommand{raw.mpi,
                                  std::move(*compiler),
                                  {raw.include_directories.begin(), raw.include_directories.end()},
                                  given(raw.source),
                                  given(raw.library),
                                  raw.output,
                                  !raw.no_sandbox});
}

Result<Command> recorder_command(const RawOptions& raw) {
  auto compiler = compiler_words("--mpicc", raw.mpicc);
  if (!compiler)
    return forward(std::move(compiler));
  return Command(RecorderMakeCommand{std::move(*compiler), raw.output});
}

/// "mqbridge types make": the innermost command that the arguments reached.
std::string command_name(const CLI::App& app) {
  std::string name = "mqbridge";
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    name += " " + at->get_name();
  }
  return name;
}

/// How many characters differ, where one is left out, added or another one, or two are exchanged.
std::size_t distance(std::string_view one, std::string_view other) {
  std::vector<std::size_t> before_last;
  std::vector<std::size_t> last(other.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= one.size(); ++i) {
    std::vector<std::size_t> row{i};
    for (std::size_t j = 1; j <= other.size(); ++j) {
      const std::size_t replaced = one[i - 1] == other[j - 1] ? 0 : 1;
      row.push_back(std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + replaced}));
      if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = std::exchange(last, std::move(row));
  }
  return last.back();
}

/// "; did you mean --mpirun?", if a command or option of the innermost command is nearly so
/// written; else empty.
std::string meant(const CLI::App& app, const std::string& unknown) {
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty())
    at = at->get_subcommands().front();
  std::vector<std::string> known;
  for (const CLI::Option* option : at->get_options())
    for (const auto& name : option->get_lnames())
      known.push_back("--" + name);
  for (const CLI::App* command : at->get_subcommands([](const CLI::App*) { return true; }))
    known.push_back(command->get_name());
  const auto word = unknown.substr(0, std::min<std::size_t>(unknown.find('='), longest_meant));
  const auto nearest = std::ranges::min_element(
      known, {}, [&](const std::string& name) { return distance(word, name); });
  const bool is_near = nearest != known.end() &&
                       distance(word, *nearest) <= std::max<std::size_t>(1, word.size() / 4);
  return is_near ? fmt::format("; did you mean {}?", *nearest) : "";
}

/// `no_command`: there are no words behind `--`.
Failure wrong_usage(const CLI::App& app, const CLI::ParseError& error, bool no_command) {
  const std::string command = command_name(app);
  // An unknown word explains more than a missing option that it causes.
  const std::vector<std::string> unknown = app.remaining(true);
  if (unknown.empty())
    return fail("usage", fmt::format("{}: {}", command, error.what()), command + " --help");
  const auto& word = unknown.front();
  if (app.got_subcommand("run") && no_command && !word.starts_with('-'))
    return fail("usage", fmt::format("{}: -- must stand before the command, \"{}\"", command, word),
                fmt::format("mqbridge run --timeout 10m -- {} ...", pasteable(word)));
  return fail(
      "usage",
      fmt::format("{}: \"{}\" is not a command or option here{}", command, word, meant(app, word)),
      command + " --help");
}

/// How the service reaches and reads a job is its own affair: an option that says so is an error.
std::optional<Error> not_for_service(const CLI::App& dump) {
  constexpr std::array groups = {"Job", "Files", "Stopping", "Comparing", "Stacks", "Verdict"};
  constexpr std::array names = {"TARGET",      "--max-operations", "--max-bytes", "--max-walk",
                                "--no-stacks", "--trace",          "--progress"};
  for (const CLI::Option* option : dump.get_options()) {
    const std::string name = option->get_name();
    if (option->count() > 0 && (std::ranges::find(groups, option->get_group()) != groups.end() ||
                                std::ranges::find(names, name) != names.end()))
      return Error{"usage",
                   fmt::format("mqbridge dump: {} has no meaning with --service and --job", name),
                   "leave it out; the service's configuration says how a job is reached"};
  }
  return std::nullopt;
}

/// `help [COMMAND]` is COMMAND --help; `help TOPIC` one of help_topic(). Error: usage (neither).
Result<std::string> help_of(std::span<const char* const> command, std::string_view version) {
  if (command.size() == 1)
    if (const auto topic = help_topic(command.front()); !topic.empty())
      return std::string(topic) + "\n";
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
      return fail("usage", fmt::format("mqbridge help: \"{}\" is not a command or topic", word),
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
  const std::string_view command(arguments.empty() ? "" : arguments.front());
  auto words = command == "run" || command == "gdb"
                   ? split_run(arguments)
                   : RunWords{{arguments.begin(), arguments.end()}, {}};
  try {
    // CLI11 takes the words from the back.
    app.parse(std::vector<std::string>(words.own.rbegin(), words.own.rend()));
  } catch (const CLI::Success& wanted) {
    std::ostringstream text;
    app.exit(wanted, text, text);
    return Command(PrintCommand{text.str()});
  } catch (const CLI::ParseError& error) {
    return wrong_usage(app, error, words.command.empty());
  }
  if (raw.summary && raw.full)
    return fail("usage", "mqbridge dump: --summary and --full contradict each other",
                "write one of them");
  if (app.got_subcommand("why")) {
    raw.analyze = true;
    auto look = parse_look(raw, true);
    if (look)
      look->verdict_alone = true;
    return dump_command(raw, std::move(look));
  }
  if (app.got_subcommand("dump") && (!raw.service.empty() || !raw.job.empty())) {
    const auto other = not_for_service(*app.get_subcommand("dump"));
    return other ? Result<Command>(Failure(*other)) : service_look_command(raw);
  }
  if (app.got_subcommand("dump") || app.got_subcommand("stacks"))
    return dump_command(raw, parse_look(raw, app.got_subcommand("dump")));
  if (app.got_subcommand("vars"))
    return dump_command(raw, parse_vars(raw));
  if (app.got_subcommand("handles"))
    return dump_command(raw, parse_handles(raw));
  if (app.got_subcommand("analyze"))
    return analyze_command(raw);
  if (app.got_subcommand("show"))
    return show_command(raw);
  if (app.got_subcommand("run"))
    return run_command(raw, std::move(words.command));
  if (app.got_subcommand("doctor"))
    return doctor_command(raw);
  if (app.got_subcommand("ranks"))
    return ranks_command(raw, {arguments.begin() + 1, arguments.end()});
  if (app.got_subcommand("proxy"))
    return proxy_command(raw);
  if (app.got_subcommand("gdb"))
    return gdb_command(raw, std::move(words.command));
  if (app.got_subcommand("serve"))
    return serve_command(raw);
  if (app.got_subcommand("jobs"))
    return jobs_command(raw);
  if (app.got_subcommand("recorder"))
    return recorder_command(raw);
  return types_command(*app.get_subcommand("types"), raw);
}

std::string_view short_usage() {
  return R"(Usage: mqbridge COMMAND [OPTIONS] [TARGET...]

  mqbridge ranks                 the MPI jobs of this host
  mqbridge why                   why the one job of this host does not move
  mqbridge dump --mpirun PID     the queues of a job
  mqbridge stacks --mpirun PID   where its ranks are
  mqbridge run --timeout 10m -- mpirun -np 4 ./solver

All commands: mqbridge --help
)";
}

} // namespace mqbridge
