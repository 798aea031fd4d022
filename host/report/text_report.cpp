#include "host/report/text_report.h"

#include "host/report/names.h"
#include "host/report/outcome.h"
#include "host/report/printable.h"
#include "host/report/ranges.h"
#include "host/report/text_parts.h"
#include "host/report/units.h"
#include "host/report/wrap.h"

#include <algorithm>
#include <fmt/format.h>

namespace mqbridge {
namespace {

std::string rank_counts(const Dump& dump, const Paint& paint) {
  const Outcome outcome = outcome_of(dump);
  const auto total = static_cast<std::int64_t>(outcome.total());
  const std::int64_t job_size = std::max(dump.job_size.value_or(total), total);
  std::string text = fmt::format("{}", total);
  if (job_size > total)
    text += fmt::format(" of {}", job_size);
  text += job_size == 1 ? " rank" : " ranks";
  if (has_several_jobs(dump))
    text += " of several jobs";
  if (outcome.complete > 0 || outcome.total() == 0)
    text += fmt::format(", {} complete", outcome.complete);
  if (outcome.partial > 0)
    text += ", " + paint(Style::warning, fmt::format("{} partial", outcome.partial));
  if (outcome.failed > 0)
    text += ", " + paint(Style::bad, fmt::format("{} FAILED", outcome.failed));
  return text;
}

void write_header(const TextContext& context) {
  const Dump& dump = context.dump;
  std::string text = context.paint(Style::heading, "mqbridge dump") + "   ";
  if (!dump.job_source.empty() && dump.job_source != "targets")
    text += "job " + printable(dump.job_source) + ": ";
  text += rank_counts(dump, context.paint);
  std::string times;
  const auto stops = std::count_if(dump.ranks.begin(), dump.ranks.end(), [](const RankDump& rank) {
    return rank.stopped_ms.has_value();
  });
  if (dump.skew_ms && stops > 1)
    times = "stops spread " + duration_text(*dump.skew_ms);
  if (dump.stalled_ms)
    times += (times.empty() ? "" : ", ") + ("job stalled " + duration_text(*dump.stalled_ms));
  context.line(times.empty() ? text : text + "    " + times);
}

void add_filter(std::string& text, std::string_view name, const std::string& values) {
  if (!values.empty())
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", name, values);
}

std::string joined(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values)
    text += (text.empty() ? "" : ", ") + value;
  return text;
}

void write_filters(const TextContext& context) {
  const Filters& filters = context.dump.filters;
  std::vector<std::string> queues;
  for (const OpClass queue : filters.queues)
    queues.emplace_back(name_of(queue));
  std::vector<std::string> communicators;
  for (const std::string& name : filters.communicators)
    communicators.push_back('"' + printable(name) + '"');
  std::string text;
  add_filter(text, "queue", joined(queues));
  add_filter(text, "comm", joined(communicators));
  add_filter(text, "rank", range_text(filters.ranks));
  add_filter(text, "tag", range_text(filters.tags));
  add_filter(text, "peer", range_text(filters.peers));
  if (text.empty())
    return;
  for (const std::string& line : wrap_words("shown only: " + text, context.options.width))
    context.line(line);
}

} // namespace

void TextContext::line(std::string_view text) const {
  std::string whole(text);
  whole += '\n';
  sink(whole);
}

bool is_folded(const TextContext& context) {
  return context.dump.ranks.size() > most_ranks_in_full && !context.options.full;
}

void write_message(const TextContext& context, Style style, const std::string& message,
                   const std::string& hint) {
  constexpr std::size_t indent = 2;
  for (const std::string& line :
       wrap_words(printable_lines(message), context.options.width - indent))
    context.line("  " + context.paint(style, line));
  constexpr std::string_view label = "fix: ";
  std::string_view lead = label;
  for (const std::string& line :
       wrap_clauses(printable_lines(hint), context.options.width - indent - label.size())) {
    context.line("  " + context.paint(Style::fix, fmt::format("{:5}{}", lead, line)));
    lead = {};
  }
}

void write_text(const Dump& dump, const TextOptions& options, const Sink& sink) {
  const TextContext context{dump, options, sink, Paint(options.color)};
  write_header(context);
  write_filters(context);
  context.line();
  if (is_folded(context)) {
    const std::vector<RankGroup> groups = group_ranks(dump);
    write_folded_table(context, groups);
    for (const RankGroup& group : groups)
      if (!options.summary)
        write_group_details(context, group);
  } else {
    write_rank_table(context);
    for (const RankDump& rank : dump.ranks)
      if (!options.summary)
        write_rank(context, rank);
  }
  if (options.stats)
    write_statistics(context);
  const std::string exit = exit_line(outcome_of(dump), options.exit_status);
  if (!exit.empty())
    context.line(context.paint(Style::bad, exit));
}

} // namespace mqbridge
