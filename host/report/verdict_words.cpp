#include "host/report/verdict_words.h"

#include "host/document/names.h"
#include "host/dump/values/ranges.h"

#include <algorithm>
#include <fmt/format.h>

namespace mqbridge {

std::string_view label_of(FindingKind kind) {
  switch (kind) {
  case FindingKind::cycle:
    return "cycle";
  case FindingKind::knot:
    return "knot";
  case FindingKind::partner_gone:
    return "gone";
  case FindingKind::partner_finalized:
    return "finalized";
  case FindingKind::missing_partner:
    return "missing";
  case FindingKind::tag_mismatch:
    return "tag";
  case FindingKind::communicator_mismatch:
    return "comm";
  case FindingKind::source_mismatch:
    return "source";
  case FindingKind::too_long:
    return "too long";
  case FindingKind::orphan_unexpected:
    return "orphan";
  case FindingKind::never_started:
    return "not started";
  case FindingKind::rank_exited:
    return "exited";
  case FindingKind::collective_mismatch:
    return "collective";
  case FindingKind::collective_order:
    return "order";
  case FindingKind::straggler:
    return "straggler";
  case FindingKind::needs_progress:
    return "progress";
  case FindingKind::stuck_transport:
    return "stuck";
  case FindingKind::polling:
    return "polling";
  case FindingKind::backlog:
    return "backlog";
  case FindingKind::suspended:
    return "suspended";
  case FindingKind::unknown_wait:
    return "unknown";
  }
  return "";
}

bool holds_core(const Finding& finding) {
  return finding.kind == FindingKind::cycle || finding.kind == FindingKind::knot;
}

namespace {

std::string core_words(const Analysis& analysis) {
  const auto count = [&](FindingKind kind) {
    return std::ranges::count(analysis.findings, kind, &Finding::kind);
  };
  const auto cycles = count(FindingKind::cycle);
  const auto knots = count(FindingKind::knot);
  if (cycles + knots == 0)
    return " can never go on";
  if (cycles > 0 && knots > 0)
    return fmt::format(" in {} cycles and knots", cycles + knots);
  const auto* const word = cycles > 0 ? "cycle" : "knot";
  return cycles + knots == 1 ? fmt::format(" in a {}", word)
                             : fmt::format(" in {} {}s", cycles + knots, word);
}

std::size_t in_cycles_and_knots(const Analysis& analysis) {
  std::size_t count = 0;
  for (const Finding& finding : analysis.findings)
    if (holds_core(finding))
      count += values_of(finding.ranks).size();
  return count;
}

std::string deadlock_words(const Analysis& analysis) {
  std::size_t core = 0;
  std::size_t blocked = 0;
  for (const auto& [job, verdict] : verdicts_by_job(analysis)) {
    core += values_of(verdict.core).size();
    blocked += values_of(verdict.blocked).size();
  }
  const auto together = in_cycles_and_knots(analysis);
  auto words = fmt::format(": {} {}", core, core == 1 ? "rank" : "ranks");
  if (together > 0 && together < core)
    words += fmt::format(" can never go on, {} of them", together);
  words += core_words(analysis);
  if (blocked > 0)
    words += fmt::format(", {} {} behind", blocked, blocked == 1 ? "waits" : "wait");
  if (analysis.unchanged_ms)
    words += fmt::format("; unchanged over {:.1f} s", *analysis.unchanged_ms / 1000);
  return words;
}

VerdictLine without_confidence(const Analysis& analysis) {
  switch (analysis.verdict) {
  case Verdict::deadlock:
    return {"DEADLOCK", deadlock_words(analysis),
            analysis.confidence == Confidence::possible ? Style::warning : Style::bad};
  case Verdict::no_deadlock:
    return {"no deadlock", "", Style::good};
  case Verdict::undecided:
    return {"UNDECIDED", ": what ranks wait for is not known, see below", Style::warning};
  }
  return {};
}

} // namespace

VerdictLine verdict_line(const Analysis& analysis) {
  VerdictLine line = without_confidence(analysis);
  if (analysis.confidence)
    line.verdict += fmt::format(" ({})", name_of(*analysis.confidence));
  return line;
}

std::map<std::string, JobVerdict> verdicts_by_job(const Analysis& analysis) {
  if (analysis.by_job.size() > 1)
    return analysis.by_job;
  return {{"", {analysis.core, analysis.blocked}}};
}

} // namespace mqbridge
