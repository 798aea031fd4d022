#include "host/analysis/compare_variables.h"
#include "host/analysis/unexpected_lengths.h"
#include "host/cli/collect/collect_dump.h"
#include "host/cli/commands/execute.h"
#include "host/cli/commands/verdict.h"
#include "host/cli/commands/write_report.h"
#include "host/cli/terminal/fetch_question.h"
#include "host/cli/terminal/output.h"
#include "host/cli/terminal/progress.h"
#include "host/cli/terminal/rank_lines.h"
#include "host/cli/terminal/session.h"
#include "host/document/json_report.h"
#include "host/document/outcome.h"
#include "host/document/redact.h"
#include "host/dump/take_looks.h"
#include "host/dump/values/filters.h"
#include "host/dump/values/times.h"
#include "host/dump/workshop.h"
#include "host/report/text_report.h"
#include "host/report/tsv_report.h"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <unistd.h>

namespace mqbridge {
namespace {

/// The header of NDJSON comes before any rank: it has the facts that are known then.
Dump before_the_dump(const DumpCommand& command) {
  Dump dump;
  dump.taken_at = rfc3339(std::chrono::system_clock::now());
  dump.job_source = source_of(command.targets);
  dump.filters = command.options.filters;
  return dump;
}

bool shows_progress(const DumpCommand& command) {
  return command.progress == When::always ||
         (command.progress == When::automatic && ::isatty(STDERR_FILENO) == 1);
}

/// A collector has nothing to do if its node has no rank, and that may be right.
Result<void> require_targets_or_say_so(ChosenTargets& chosen, Format format) {
  if (format != Format::collect || !chosen.targets.empty())
    return require_targets(chosen);
  const bool explained = std::ranges::any_of(chosen.troubles, [](const RankError& trouble) {
    return trouble.level == RankError::Level::error;
  });
  if (!explained)
    chosen.troubles.push_back({"job.no_rank", RankError::Level::warning,
                               "no rank of the job was found there",
                               "to see what runs: mqbridge ranks"});
  return {};
}

/// Finds the targets, and dumps them.
Result<Dump> take(const DumpCommand& command, const DumpOptions& options, RankLines& lines,
                  Session& session) {
  Result<ChosenTargets> chosen = ChosenTargets(); // outlive the progress that names them
  std::optional<Progress> progress;
  DumpOptions asking = options;
  if (auto ask = ask_on_terminal(session.signals.token()))
    asking.fetch.ask = [&progress, ask = std::move(ask)](const FetchQuestion& question) {
      if (!progress)
        return ask(question);
      const auto quiet = progress->pause();
      return ask(question);
    };
  auto workshop = Workshop::open(std::move(asking));
  if (!workshop)
    return forward(std::move(workshop));
  ProgressLine finding(shows_progress(command) && command.targets.job);
  finding.show("looking for the ranks of the job");
  chosen = choose_targets(command.targets, **workshop, session.signals.token());
  finding.clear();
  if (!chosen)
    return forward(std::move(chosen));
  if (auto some = require_targets_or_say_so(*chosen, command.format); !some)
    return forward(std::move(some));
  // Targets that are known to be other ranks than the wanted ones are not even stopped.
  std::erase_if(chosen->targets, [&](const TargetSpec& target) {
    return target.rank && !wanted(options.filters, *target.rank);
  });
  progress.emplace(shows_progress(command), chosen->targets);
  lines.begin(before_the_dump(command));
  const DumpObserver watching{
      .rank_done =
          [&](const RankDump& rank) {
            if (!wanted(options.filters, rank.rank))
              return;
            const auto quiet = progress->pause();
            lines.rank(rank);
          },
      .progress = [&](std::size_t index, std::string_view phase,
                      std::uint64_t operations) { progress->report(index, phase, operations); },
      .warning = [&](std::size_t index, const Error& warning) { progress->warn(index, warning); },
      .ended = [&](std::size_t index, RankStatus status) { progress->ended(index, status); }};
  const LooksObserver observer{
      .dump = watching,
      .waiting = [&](std::chrono::milliseconds pause) { progress->rest(again_text(pause)); },
      .again = [&](std::size_t targets) { progress->restart(targets); }};
  auto dump = take_looks(chosen->targets, **workshop, observer, command.verdict.again,
                         session.signals.token());
  dump.job_source = chosen->source;
  dump.errors.insert(dump.errors.begin(), chosen->troubles.begin(), chosen->troubles.end());
  return dump;
}

/// Tells the collecting program that this collector could not even begin.
void tell_collector(const Error& error, const DumpCommand& command, RankLines& lines) {
  if (command.format != Format::collect)
    return;
  auto dump = before_the_dump(command);
  dump.errors.push_back(
      {std::string(error.code), RankError::Level::error, error.message, error.hint});
  lines.begin(dump);
  lines.end(dump);
}

/// Repeats the result on stderr if the report itself is for a program, or went into a file.
void tell_on_stderr(const DumpCommand& command, const Outcome& outcome, int status) {
  const bool told = command.format == Format::text && command.output.empty();
  if (status != exit_ok && !told)
    print_on_stderr(fmt::format("mqbridge: {}\n", exit_line(outcome, status)));
  if (outcome.total() == 0 && !command.options.filters.ranks.empty())
    print_error({"filter.no_rank", "no target is a rank that --rank names",
                 "leave --rank out to see which ranks the targets are"});
}

} // namespace

int execute(const DumpCommand& command, const Installation& installation) {
  auto session = Session::open(command.output, command.trace);
  if (!session) {
    print_error(session.error());
    return exit_output;
  }
  const DumpOptions options = (*session)->complete(command.options, installation);
  const JsonOptions json{.tool_version = installation.version, .raw = command.raw};
  std::optional<RankLines> lines(std::in_place, command.format, json, (*session)->output,
                                 [] { ::kill(::getpid(), SIGTERM); });
  Redactor redactor;
  if (command.redact)
    lines->redact_with(redactor);
  auto dump = command.collect ? collect_dump(command, options, installation, *lines, **session,
                                             shows_progress(command))
                              : take(command, options, *lines, **session);
  (*session)->signals.exit_on_next();
  if (!dump) {
    tell_collector(dump.error(), command, *lines);
    print_error(dump.error());
    return (*session)->status_or_interrupted(exit_nothing);
  }
  if (command.redact)
    redactor.redact(*dump);
  add_verdict(*dump, command);
  if (command.variables.diff)
    dump->variable_differences = compare_variables(*dump, command.variables.all);
  if (command.variables.unexpected)
    dump->unexpected_lengths = find_unexpected_lengths(*dump, *command.variables.unexpected);
  lines->end(*dump);
  lines.reset();
  const Outcome outcome = outcome_of(*dump);
  const int status = status_of_verdict(dump->analysis, command.verdict.fail_on,
                                       (*session)->status_or_interrupted(exit_status_of(outcome)));
  write_report(*dump, command, json, status, (*session)->output);
  tell_on_stderr(command, outcome, status);
  return (*session)->close(status);
}

} // namespace mqbridge
