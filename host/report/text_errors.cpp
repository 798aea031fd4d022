#include "host/report/causes.h"
#include "host/report/fitted_text.h"
#include "host/report/rank_lists.h"
#include "host/report/shared_errors.h"
#include "host/report/text_parts.h"

#include <algorithm>
#include <fmt/format.h>

namespace mqbridge {

const RankError* first_error(const RankDump& rank) {
  const auto found = std::find_if(rank.errors.begin(), rank.errors.end(), [](const RankError& e) {
    return e.level == RankError::Level::error;
  });
  return found == rank.errors.end() ? nullptr : &*found;
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

namespace {

void write_with_code(const TextContext& context, const Cause& cause) {
  const RankError& error = cause.shown();
  const bool warning = error.level == RankError::Level::warning;
  write_message(context, warning ? Style::warning : Style::bad,
                (warning ? "warning " : "") + error.code + ": " + message_of(cause), error.hint);
}

} // namespace

void write_errors(const TextContext& context, const RankDump& rank, const SharedErrors& shared) {
  // The heading has the code of the first error: its message comes next, without the code.
  const auto own = shared.own(rank);
  const auto in_heading =
      std::ranges::find(own, first_error(rank), [](const Cause& cause) { return &cause.shown(); });
  if (in_heading != own.end())
    write_message(context, Style::bad, message_of(*in_heading), in_heading->shown().hint);
  for (auto cause = own.begin(); cause != own.end(); ++cause)
    if (cause != in_heading)
      write_with_code(context, *cause);
}

void write_errors_of_no_rank(const TextContext& context) {
  if (context.dump.errors.empty())
    return;
  context.line();
  context.line(context.paint(Style::heading, "Of no rank"));
  for (const Cause& cause : causes_of(context.dump.errors))
    write_with_code(context, cause);
}

void write_troubles(const TextContext& context) {
  const SharedErrors shared(context.dump);
  std::size_t written = 0;
  std::size_t left_out = 0;
  for (const RankDump& rank : context.dump.ranks) {
    if (shared.own(rank).empty())
      continue;
    if (is_folded(context) && written == most_ranks_in_full) {
      ++left_out;
      continue;
    }
    context.line();
    write_heading(context, rank);
    write_errors(context, rank, shared);
    ++written;
  }
  if (left_out > 0)
    context.line(
        fmt::format("\n{} with errors of their own: --full", counted(left_out, "more rank")));
  shared.write(context);
}

} // namespace mqbridge
