#include "host/report/paint.h"
#include "host/report/printable.h"
#include "host/report/text_report.h"
#include "host/report/wrap.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>

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

std::string counted(const Checklist& checklist, Check::Level level, std::string_view word) {
  const auto count = std::count_if(checklist.checks.begin(), checklist.checks.end(),
                                   [&](const Check& check) { return check.level == level; });
  if (count == 0)
    return {};
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "S");
}

std::string verdict(const Checklist& checklist) {
  std::string text = counted(checklist, Check::Level::fault, "FAULT");
  const std::string limits = counted(checklist, Check::Level::limit, "LIMIT");
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

} // namespace

void write_text(const Checklist& checklist, const TextOptions& options, const Sink& sink) {
  const Paint paint(options.color);
  const std::string start = "mqbridge doctor " + printable(checklist.endpoint);
  const std::string end = verdict(checklist);
  constexpr std::size_t verdict_column = 50;
  const std::size_t used = display_width(start);
  const std::size_t width = display_width(end);
  std::string gap(used + 3 > verdict_column ? 3 : verdict_column - used, ' ');
  if (used + gap.size() + width > options.width)
    gap = used + 3 + width > options.width ? "\n  " : "   ";
  sink(paint(Style::heading, start) + gap +
       paint(checklist.queues_readable ? Style::good : Style::bad, end) + "\n");
  for (const Check& check : checklist.checks)
    write_check(check, paint, options.width, sink);
}

} // namespace mqbridge
