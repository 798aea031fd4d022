#include "host/launch/node_names.h"
#include "host/report/alike_texts.h"
#include "host/report/causes.h"
#include "host/report/fitted_text.h"
#include "host/report/paint.h"
#include "host/report/rank_lists.h"
#include "host/report/text_report.h"
#include "host/report/units.h"

#include <algorithm>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace mqbridge {
namespace {

constexpr std::size_t text_column = 18; // "LIMIT  transport  "

struct LevelWord {
  std::string_view word;
  Style style;
};

LevelWord word_of(Check::Level level) {
  switch (level) {
  case Check::Level::ok:
    return {"ok", Style::good};
  case Check::Level::limit:
    return {"LIMIT", Style::warning};
  case Check::Level::fault:
    return {"FAULT", Style::bad};
  case Check::Level::skip:
    return {"skip", Style::dim};
  case Check::Level::plan:
    return {"plan", Style::plain};
  }
  return {};
}

std::string count_at(const Checklist& checklist, Check::Level level, std::string_view word) {
  const auto count = std::count_if(checklist.checks.begin(), checklist.checks.end(),
                                   [&](const Check& check) { return check.level == level; });
  if (count == 0)
    return {};
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "S");
}

std::string verdict(const Checklist& checklist) {
  std::string text = count_at(checklist, Check::Level::fault, "FAULT");
  const std::string limits = count_at(checklist, Check::Level::limit, "LIMIT");
  if (!limits.empty())
    text += (text.empty() ? "" : ", ") + limits;
  if (!text.empty())
    text += ": ";
  return text + (checklist.queues_readable ? "queues readable" : "queues not readable yet");
}

void write_check(const Check& check, const Paint& paint, std::size_t width, const Sink& sink) {
  const auto emit = [&](std::string_view level, Style style, std::string_view subject,
                        const std::string& text, Style text_style) {
    const std::string padding(level.size() < 7 ? 7 - level.size() : 1, ' ');
    sink(fmt::format("{}{}{:10} {}\n", paint(style, level), padding, subject,
                     paint(text_style, text)));
  };
  const LevelWord level = word_of(check.level);
  std::string_view word = level.word;
  std::string subject = printable(check.subject);
  std::vector<std::string> lines = wrap_words(printable_lines(check.text), width - text_column);
  if (lines.empty())
    lines.emplace_back();
  for (const std::string& line : lines) {
    emit(word, level.style, subject, line, Style::plain);
    word = {};
    subject.clear();
  }
  subject = "fix";
  for (const std::string& fix : check.fixes)
    for (const std::string& line : wrap_clauses(printable_lines(fix), width - text_column)) {
      emit({}, Style::plain, subject, line, Style::fix);
      subject.clear();
    }
}

constexpr std::string_view dump_has_each = "mqbridge dump --format json has each";

/// Checks that say the same of several files become one.
Checklist without_repeats(Checklist list) {
  std::map<std::string, std::vector<std::string_view>> texts;
  const auto key = [](const Check& check) {
    return fmt::format("{} {}\n", static_cast<int>(check.level), check.subject) +
           frame_of(fmt::format("{}\n{}", check.text, fmt::join(check.fixes, "\n")));
  };
  std::vector<Check> all = std::exchange(list.checks, {});
  for (const Check& check : all)
    texts[key(check)].push_back(check.text);
  for (const Check& check : all) {
    const auto& alike = texts.at(key(check));
    if (alike.front().data() != check.text.data())
      continue;
    list.checks.push_back(check);
    if (alike.size() > 1)
      list.checks.back().text += fmt::format("\n({}; {})", alike_line(alike), dump_has_each);
  }
  return list;
}

/// Writes the subject at the left, and its result further right or below it.
void write_heading(const std::string& start, Style style, const std::string& end, bool good,
                   const TextOptions& options, const Sink& sink) {
  const Paint paint(options.color);
  constexpr std::size_t verdict_column = 50;
  const std::size_t used = display_width(start);
  const std::size_t width = display_width(end);
  std::string gap(used + 3 > verdict_column ? 3 : verdict_column - used, ' ');
  if (used + gap.size() + width > options.width)
    gap = used + 3 + width > options.width ? "\n  " : "   ";
  sink(paint(style, start) + gap + paint(good ? Style::good : Style::bad, end) + "\n");
}

bool has_fault(const Checklist& list) {
  return std::any_of(list.checks.begin(), list.checks.end(),
                     [](const Check& check) { return check.level == Check::Level::fault; });
}

/// Where a job can be dumped: "on 16 of 18 nodes queues readable, 2 with FAULTS".
std::string verdict(const JobChecklist& job) {
  // A node with several stubs may be in several groups.
  std::set<std::string_view> unreadable;
  std::set<std::string_view> faulty;
  for (const NodeChecklist& group : job.groups) {
    if (!group.list.queues_readable)
      unreadable.insert(group.nodes.begin(), group.nodes.end());
    if (has_fault(group.list))
      faulty.insert(group.nodes.begin(), group.nodes.end());
  }
  auto text = unreadable.empty() ? "queues readable"
                                 : fmt::format("queues readable on {} of {} nodes",
                                               job.nodes - unreadable.size(), job.nodes);
  return faulty.empty() ? text
                        : fmt::format("{} with FAULTS, {}", counted(faulty.size(), "node"), text);
}

void write_group(const NodeChecklist& group, const TextOptions& options, const Sink& sink) {
  const Paint paint(options.color);
  const Checklist list = without_repeats(group.list);
  const auto start = fmt::format("{}   {}, {}", node_list_text(group.nodes),
                                 counted(group.nodes.size(), "node"), counted(group.ranks, "rank"));
  write_heading(start, Style::heading, verdict(list), list.queues_readable, options, sink);
  if (group.ranks > 1)
    sink(paint(Style::dim, "as seen in " + printable(list.endpoint)) + "\n");
  for (const Check& check : list.checks)
    if (check.level != Check::Level::plan) // that of the job comes last
      write_check(check, paint, options.width, sink);
}

void write_trouble(const Cause& cause, const TextOptions& options, const Sink& sink) {
  const RankError& trouble = cause.shown();
  const bool warning = trouble.level == RankError::Level::warning;
  std::vector<std::string> fixes;
  if (!trouble.hint.empty())
    fixes.push_back(trouble.hint);
  write_check({warning ? Check::Level::limit : Check::Level::fault, "find",
               trouble.code + ": " + message_of(cause, dump_has_each), std::move(fixes)},
              Paint(options.color), options.width, sink);
}

} // namespace

void write_text(const Checklist& checklist, const TextOptions& options, const Sink& sink) {
  const Checklist list = without_repeats(checklist);
  write_heading("mqbridge doctor " + printable(list.endpoint), Style::heading, verdict(list),
                list.queues_readable, options, sink);
  for (const Check& check : list.checks)
    write_check(check, Paint(options.color), options.width, sink);
}

void write_text(const JobChecklist& job, const TextOptions& options, const Sink& sink) {
  const bool good = std::all_of(job.groups.begin(), job.groups.end(), [](const auto& group) {
    return group.list.queues_readable && !has_fault(group.list);
  });
  write_heading(fmt::format("mqbridge doctor   {} on {}", counted(job.ranks, "rank"),
                            counted(job.nodes, "node")),
                Style::heading, verdict(job), good, options, sink);
  for (const Cause& trouble : causes_of(job.troubles))
    write_trouble(trouble, options, sink);
  for (const NodeChecklist& group : job.groups) {
    sink("\n");
    write_group(group, options, sink);
  }
  if (!job.cost)
    return;
  sink("\n");
  write_check(
      {Check::Level::plan,
       "dump",
       fmt::format("about {:.1f} s for all that can be dumped, each held about {}",
                   std::max(0.1, job.cost->elapsed_ms / 1000), duration_text(job.cost->held_ms)),
       {}},
      Paint(options.color), options.width, sink);
}

} // namespace mqbridge
