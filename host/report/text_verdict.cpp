#include "host/document/names.h"
#include "host/dump/values/ranges.h"
#include "host/report/communicator_words.h"
#include "host/report/fitted_text.h"
#include "host/report/text_parts.h"
#include "host/report/verdict_words.h"

#include <algorithm>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <utility>

namespace mqbridge {
namespace {

using Rank = std::pair<std::string, std::int64_t>; ///< job_id, number

constexpr std::size_t most_lines = 12;
constexpr std::size_t least_label = 9; ///< "VERDICT  "

/// Ranks that wait in the same words, in the order in which they came.
struct AlikeWaits {
  std::string job;
  std::vector<std::int64_t> ranks;
  std::string words;
  std::string place;
};

class VerdictWriter {
public:
  explicit VerdictWriter(const TextContext& context)
      : context_(context), analysis_(*context.dump.analysis),
        several_jobs_(analysis_.by_job.size() > 1) {
    for (const Wait& wait : analysis_.waits)
      waits_[{job_of(wait.job_id), wait.rank}].push_back(&wait);
    for (const Finding& finding : analysis_.findings)
      if (!is_told_below(finding))
        label_ = std::max(label_, label_of(finding.kind).size() + 2);
  }

  void write() {
    write_verdict_line();
    write_core();
    for (const std::string& place : limited(analysis_.look_at))
      write_labelled("look at", place);
    write_other_findings();
    write_behind();
    write_unseen();
  }

  /// What "C1" stands for in the lines that were written.
  void write_names(std::string_view written) const {
    if (const auto names = names_of_mentioned(context_.dump, written); !names.empty())
      write_labelled("names", fmt::format("{}", fmt::join(limited(names), ", ")));
  }

private:
  // The lines.

  void write_verdict_line() const {
    const VerdictLine said = verdict_line(analysis_);
    const auto start = padded("VERDICT");
    const auto lines = wrap_words(said.verdict + said.more, room());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto head = i == 0 ? std::min(said.verdict.size(), lines[i].size()) : 0;
      context_.line((i == 0 ? context_.paint(Style::heading, start) : blank()) +
                    (i == 0 ? context_.paint(said.style, lines[i].substr(0, head)) : "") +
                    lines[i].substr(head));
    }
  }

  void write_core() {
    for (const Finding& finding : limited(findings_of(true))) {
      write_labelled(label_of(finding.kind), of_job(finding.job_id) + finding.message);
      write_waits(unsaid(job_of(finding.job_id), finding.ranks));
    }
    std::vector<Rank> left;
    for (const auto& [job, verdict] : verdicts_by_job(analysis_))
      std::ranges::move(unsaid(job, verdict.core), std::back_inserter(left));
    if (left.empty())
      return;
    write_labelled("core", analysis_.findings.empty() ? "what these ranks wait for never comes"
                                                      : "waits that never end");
    write_waits(left);
  }

  void write_other_findings() const {
    const auto others = findings_of(false);
    for (const Finding& finding : limited(others))
      write_labelled(label_of(finding.kind), of_job(finding.job_id) + finding.message);
    write_more("", others.size(), "finding");
  }

  void write_behind() const {
    std::vector<Rank> behind;
    for (const auto& [job, verdict] : verdicts_by_job(analysis_))
      for (const std::int64_t rank : values_of(verdict.blocked))
        behind.emplace_back(job, rank);
    const auto groups = alike(behind, true);
    for (const AlikeWaits& group : limited(groups))
      write_labelled("behind", fmt::format("{} in {}{}: waiting, not the cause", ranks_text(group),
                                           group.words, at_place(group.place)));
    write_more("", groups.size(), "kind");
  }

  void write_unseen() const {
    std::string text;
    const auto printed = limited(findings_of(false));
    for (const std::string& what : analysis_.not_visible)
      if (!is_told_above(what, printed))
        text += (text.empty() ? "" : ", ") + what;
    if (!text.empty())
      write_labelled("unseen", text);
  }

  // Waits, line by line.

  /// "  rank 0  MPI_Recv from 3 tag 17 on C1   halo.c:212"
  void write_waits(const std::vector<Rank>& ranks) const {
    const auto groups = alike(ranks, false);
    const auto shown = limited(groups);
    std::size_t names = 0;
    std::size_t places = 0;
    std::size_t words = 0;
    for (const AlikeWaits& group : shown) {
      names = std::max(names, display_width(ranks_text(group)));
      places = std::max(places, display_width(group.place));
      words = std::max(words, display_width(group.words));
    }
    constexpr std::size_t gaps = 7; // "  NAME  WORDS   PLACE"
    constexpr std::size_t least = 20;
    const auto width = context_.options.width;
    words = std::min(words, std::max(least, width - std::min(width, names + places + gaps)));
    for (const AlikeWaits& group : shown)
      write_wait(group, names, words);
    if (groups.size() > shown.size())
      context_.line(fmt::format("  and {} more: --full", groups.size() - shown.size()));
  }

  void write_wait(const AlikeWaits& group, std::size_t names, std::size_t words) const {
    const auto name = ranks_text(group);
    auto start = fmt::format("  {}{}  ", name, std::string(names - display_width(name), ' '));
    auto end = group.place.empty() ? "" : "   " + group.place;
    for (const std::string& line : wrap_words(group.words, words)) {
      const auto wide = display_width(line);
      const std::string gap(end.empty() || wide > words ? 0 : words - wide, ' ');
      context_.line(start + line + gap + context_.paint(Style::dim, std::exchange(end, "")));
      start.assign(names + 4, ' ');
    }
  }

  /// Groups of ranks with like waits. With `by_call`, they may wait for different ranks.
  std::vector<AlikeWaits> alike(const std::vector<Rank>& ranks, bool by_call) const {
    std::vector<AlikeWaits> groups;
    std::map<std::pair<std::string, std::string>, std::size_t> known;
    for (const Rank& rank : ranks) {
      const auto found = waits_.find(rank);
      if (found == waits_.end())
        add(groups, known, rank, nullptr, by_call);
      else
        for (const Wait* wait : found->second)
          add(groups, known, rank, wait, by_call);
    }
    return groups;
  }

  static void add(std::vector<AlikeWaits>& groups,
                  std::map<std::pair<std::string, std::string>, std::size_t>& known,
                  const Rank& rank, const Wait* wait, bool by_call) {
    const auto words = wait ? printable(wait->because) : "what is not known";
    const auto place = wait && wait->place ? printable(*wait->place) : "";
    const auto key = by_call ? words.substr(0, words.find(' ')) : words + '\n' + place;
    const auto [at, is_new] = known.try_emplace({rank.first, key}, groups.size());
    if (is_new)
      groups.push_back({rank.first, {}, words, place});
    AlikeWaits& group = groups[at->second];
    if (group.ranks.empty() || group.ranks.back() != rank.second)
      group.ranks.push_back(rank.second);
    if (group.words != words)
      group.words = common_words(group.words, words);
    if (group.place != place)
      group.place.clear();
  }

  /// "MPI_Recv on C1" of receives from different ranks on one communicator.
  static std::string common_words(std::string_view one, std::string_view other) {
    const auto where = [](std::string_view words) {
      const auto on = words.find(" on "); // the last one may be in a communicator's name
      return on == std::string_view::npos ? std::string_view() : words.substr(on);
    };
    const auto call = one.substr(0, one.find(' '));
    const auto on = where(one) == where(other) ? where(one) : std::string_view();
    return std::string(call) + std::string(on);
  }

  // Parts of lines.

  /// The job's name; empty if there is only one job, for then it does not matter.
  std::string job_of(const std::optional<std::string>& job) const {
    return several_jobs_ ? job.value_or("") : std::string();
  }

  /// The findings about the core, or the other ones.
  std::vector<Finding> findings_of(bool core) const {
    std::vector<Finding> findings;
    for (const Finding& finding : analysis_.findings)
      if (holds_core(finding) == core && !is_told_below(finding))
        findings.push_back(finding);
    return findings;
  }

  /// Whether the same words follow below as a place to look at.
  bool is_told_below(const Finding& finding) const {
    return std::ranges::find(analysis_.look_at, finding.message) != analysis_.look_at.end();
  }

  /// Whether a finding that is printed has named the wait, and its ranks.
  static bool is_told_above(std::string_view unseen, const std::vector<Finding>& printed) {
    return std::ranges::any_of(printed, [&](const Finding& finding) {
      constexpr std::string_view words = ": not visible: ";
      const auto at = finding.message.find(words);
      if (finding.kind != FindingKind::unknown_wait || at == std::string::npos)
        return false;
      return unseen.starts_with(finding.message.substr(at + words.size()) + " of rank");
    });
  }

  /// Ranks that no line has named yet.
  std::vector<Rank> unsaid(const std::string& job, const std::vector<Run>& runs) {
    std::vector<Rank> ranks;
    for (const std::int64_t rank : values_of(runs))
      if (said_.emplace(job, rank).second)
        ranks.emplace_back(job, rank);
    return ranks;
  }

  std::string ranks_text(const AlikeWaits& group) const {
    const auto number = fmt::format("{} {}", group.ranks.size() == 1 ? "rank" : "ranks",
                                    range_text(group.ranks, 8));
    return several_jobs_ ? fmt::format("{} of job {}", number, short_job(group.job)) : number;
  }

  static std::string short_job(const std::string& job) { return printable(job_number(job)); }

  std::string of_job(const std::optional<std::string>& job) const {
    return several_jobs_ && job ? fmt::format("job {}: ", short_job(*job)) : "";
  }

  template <class T>
  std::vector<T> limited(const std::vector<T>& all) const {
    const auto count = context_.options.full ? all.size() : std::min(all.size(), most_lines);
    return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)};
  }

  void write_more(std::string_view label, std::size_t all, std::string_view word) const {
    if (context_.options.full || all <= most_lines)
      return;
    const auto more = all - most_lines;
    write_labelled(label,
                   fmt::format("and {} more {}{}: --full", more, word, more == 1 ? "" : "s"));
  }

  std::string padded(std::string_view label) const {
    return fmt::format("{}{}", label, std::string(label_ - std::min(label_, label.size()), ' '));
  }
  std::string blank() const { return std::string(label_, ' '); }
  std::size_t room() const { return context_.options.width - label_; }

  /// The label, and the text in lines that begin below each other.
  void write_labelled(std::string_view label, const std::string& text) const {
    constexpr std::size_t most_text_lines = 6;
    auto start = context_.paint(Style::heading, padded(label));
    const auto lines = wrap_words(printable(text), room());
    const auto shown =
        context_.options.full ? lines.size() : std::min(lines.size(), most_text_lines);
    for (std::size_t i = 0; i < shown; ++i) {
      const bool cut = i + 1 == shown && shown < lines.size();
      context_.line(start + lines[i] + (cut ? " ..." : ""));
      start = blank();
    }
  }

  const TextContext context_;
  const Analysis& analysis_;
  const bool several_jobs_;
  std::size_t label_ = least_label;
  std::map<Rank, std::vector<const Wait*>> waits_;
  std::set<Rank> said_; ///< of the core
};

} // namespace

void write_verdict(const TextContext& context, bool with_names) {
  std::string written;
  const Sink keep = [&](std::string_view line) {
    written += line;
    context.sink(line);
  };
  VerdictWriter writer({context.dump, context.options, keep, context.paint});
  writer.write();
  if (with_names)
    writer.write_names(written);
  if (!context.dump.analysis->changes)
    return;
  context.line();
  write_changes(context);
}

void write_verdict(const Dump& dump, const TextOptions& options, const Sink& sink) {
  const TextContext context{dump, options, sink, Paint(options.color)};
  write_verdict(context, true);
  write_exit(context);
}

} // namespace mqbridge
