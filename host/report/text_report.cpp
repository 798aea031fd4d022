#include "host/report/text_report.h"

#include "host/document/names.h"
#include "host/document/outcome.h"
#include "host/dump/values/ranges.h"
#include "host/report/communicator_words.h"
#include "host/report/fitted_text.h"
#include "host/report/idle_communicators.h"
#include "host/report/shared_errors.h"
#include "host/report/text_parts.h"
#include "host/report/units.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace mqbridge {
namespace {

std::vector<Cell> rank_counts(const Dump& dump) {
  const Outcome outcome = outcome_of(dump);
  const auto total = static_cast<std::int64_t>(outcome.total());
  const std::int64_t job_size = std::max(dump.job_size.value_or(total), total);
  std::string text = fmt::to_string(total);
  if (job_size > total)
    text += fmt::format(" of {}", job_size);
  text += job_size == 1 ? " rank" : " ranks";
  if (has_several_jobs(dump))
    text += " of several jobs";
  std::vector<Cell> pieces = {{text}};
  const auto add = [&](std::uint64_t count, std::string_view word, Style style) {
    pieces.back().text += ",";
    pieces.push_back({fmt::format(" {} {}", count, word), style});
  };
  if (outcome.complete > 0 || outcome.total() == 0)
    add(outcome.complete, "complete", Style::plain);
  if (outcome.partial > 0)
    add(outcome.partial, "partial", Style::warning);
  if (outcome.failed > 0)
    add(outcome.failed, "FAILED", Style::bad);
  return pieces;
}

/// The name of the job that was found, if it is a single job. A user who named targets knows it.
std::optional<std::string> only_job(const Dump& dump) {
  if (dump.job_source == "targets" || dump.ranks.empty())
    return std::nullopt;
  const auto& name = dump.ranks.front().job_id;
  const auto same = [&](const RankDump& rank) { return rank.job_id == name; };
  return std::all_of(dump.ranks.begin(), dump.ranks.end(), same) ? name : std::nullopt;
}

std::string values_text(const std::vector<OpClass>& queues) {
  std::vector<std::string_view> words;
  for (const OpClass queue : queues)
    words.push_back(name_of(queue));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string values_text(const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  for (const std::string& name : names)
    quoted.push_back('"' + printable(name) + '"');
  return fmt::format("{}", fmt::join(quoted, ", "));
}

std::string values_text(const std::vector<std::int64_t>& numbers) {
  return range_text(numbers);
}

/// What a reader came for: it stands below the table, before the queues of each rank.
void write_verdict_of(const TextContext& context, bool with_names) {
  if (!context.dump.analysis)
    return;
  context.line();
  write_verdict(context, with_names);
}

void write_folded(const TextContext& context) {
  const std::vector<RankGroup> groups = group_ranks(context.dump);
  write_folded_table(context, groups);
  write_verdict_of(context, context.options.summary);
  if (context.options.summary)
    return;
  const SharedErrors shared(context.dump);
  IdleCommunicators(context).write(context);
  std::vector<const RankDump*> examples;
  for (const RankGroup& group : groups) {
    write_group_details(context, group, shared);
    const auto unlike = group.queues_alike ? 1 : group.ranks.size();
    examples.insert(examples.end(), group.ranks.begin(),
                    group.ranks.begin() + static_cast<std::ptrdiff_t>(unlike));
  }
  if (const auto states = common_states(examples); !states.empty()) {
    context.line();
    for (const std::string& line : states)
      write_message(context, Style::plain, line, "");
  }
  shared.write(context);
}

void write_ranks(const TextContext& context) {
  write_rank_table(context);
  write_verdict_of(context, context.options.summary);
  if (context.options.summary)
    return;
  const SharedErrors shared(context.dump);
  const IdleCommunicators idle(context);
  idle.write(context);
  for (const RankDump& rank : context.dump.ranks)
    write_rank(context, rank, idle, shared);
  shared.write(context);
}

} // namespace

void TextContext::line(std::string_view text) const {
  std::string whole(text);
  whole += '\n';
  sink(whole);
}

void write_filters(const TextContext& context) {
  std::string text;
  each_queue_filter(
      [&](Filter filter, const auto& values) {
        if (!values.empty())
          text +=
              fmt::format("{}{} {}", text.empty() ? "" : "; ", filter.name, values_text(values));
      },
      context.dump.filters);
  if (text.empty())
    return;
  for (const std::string& line : wrap_words("shown only: " + text, context.options.width))
    context.line(line);
}

void write_end(const TextContext& context) {
  write_errors_of_no_rank(context);
  if (context.options.stats)
    write_statistics(context);
  write_exit(context);
}

void write_exit(const TextContext& context) {
  const auto exit = exit_line(outcome_of(context.dump), context.options.exit_status);
  if (!exit.empty())
    context.line(context.paint(Style::bad, exit));
}

void write_header(const TextContext& context, std::string_view command) {
  const Dump& dump = context.dump;
  std::vector<Cell> pieces = {{fmt::format("mqbridge {}", command), Style::heading}};
  auto counts = rank_counts(dump);
  const auto job = only_job(dump);
  counts.front().text.insert(0, job ? fmt::format("   job {}: ", printable(*job)) : "   ");
  pieces.insert(pieces.end(), counts.begin(), counts.end());
  const auto stops = std::count_if(dump.ranks.begin(), dump.ranks.end(), [](const RankDump& rank) {
    return rank.stopped_ms.has_value();
  });
  const bool spread = dump.skew_ms && stops > 1;
  if (spread)
    pieces.push_back({"    stops spread " + duration_text(*dump.skew_ms)});
  if (dump.stalled_ms) {
    pieces.back().text += spread ? "," : "";
    pieces.push_back(
        {(spread ? " " : "    ") + ("job stalled " + duration_text(*dump.stalled_ms))});
  }
  write_flow(context, pieces);
}

bool is_folded(const TextContext& context) {
  return context.dump.ranks.size() > most_ranks_in_full && !context.options.full;
}

void write_flow(const TextContext& context, const std::vector<Cell>& pieces, std::size_t indent) {
  std::string line;
  std::size_t column = 0;
  for (const Cell& piece : pieces) {
    const std::size_t blanks = std::min(piece.text.find_first_not_of(' '), piece.text.size());
    const std::string_view words = std::string_view(piece.text).substr(blanks);
    std::size_t before = blanks;
    if (blanks > 0 && column > indent &&
        column + blanks + display_width(words) > context.options.width) {
      context.line(line);
      line.clear();
      column = 0;
      before = indent;
    }
    line += std::string(before, ' ') + context.paint(piece.style, words);
    column += before + display_width(words);
  }
  context.line(line);
}

void write_text(const Dump& dump, const TextOptions& options, const Sink& sink) {
  const TextContext context{dump, options, sink, Paint(options.color)};
  write_header(context, "dump");
  write_filters(context);
  context.line();
  if (is_folded(context))
    write_folded(context);
  else
    write_ranks(context);
  write_end(context);
}

void write_why(const Dump& dump, const TextOptions& options, const Sink& sink) {
  constexpr std::size_t most_lines = 25;
  std::vector<std::string> lines;
  const Sink keep = [&](std::string_view line) { lines.emplace_back(line); };
  const TextContext context{dump, options, keep, Paint(options.color)};
  write_header(context, "why");
  write_verdict_of(context, true);
  const bool answered = dump.analysis && dump.analysis->verdict != Verdict::undecided;
  if (!answered || outcome_of(dump).failed > 0)
    write_troubles(context);
  write_end(context);
  const bool cut = lines.size() > most_lines && !options.full && !options.stats;
  for (std::size_t i = 0; i < (cut ? most_lines - 1 : lines.size()); ++i)
    sink(lines[i]);
  if (cut)
    sink(fmt::format("... {} lines more: --full\n", lines.size() - (most_lines - 1)));
}

} // namespace mqbridge
