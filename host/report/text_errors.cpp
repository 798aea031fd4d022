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

void write_with_code(const TextContext& context, const RankError& error) {
  const bool warning = error.level == RankError::Level::warning;
  write_message(context, warning ? Style::warning : Style::bad,
                (warning ? "warning " : "") + error.code + ": " + error.message, error.hint);
}

} // namespace

void write_errors(const TextContext& context, const RankDump& rank, const SharedErrors& shared) {
  // The heading has the code of the first error: its message comes next, without the code.
  const RankError* in_heading = first_error(rank);
  if (in_heading != nullptr && !shared.contains(rank, *in_heading))
    write_message(context, Style::bad, in_heading->message, in_heading->hint);
  for (const RankError& error : rank.errors)
    if (&error != in_heading && !shared.contains(rank, error))
      write_with_code(context, error);
}

void write_errors_of_no_rank(const TextContext& context) {
  if (context.dump.errors.empty())
    return;
  context.line();
  context.line(context.paint(Style::heading, "Of no rank"));
  for (const RankError& error : context.dump.errors)
    write_with_code(context, error);
}

void write_troubles(const TextContext& context) {
  const SharedErrors shared(context.dump);
  std::size_t written = 0;
  std::size_t left_out = 0;
  for (const RankDump& rank : context.dump.ranks) {
    const bool own = std::ranges::any_of(
        rank.errors, [&](const RankError& error) { return !shared.contains(rank, error); });
    if (!own)
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
