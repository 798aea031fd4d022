#include "host/cli/commands/verdict.h"

#include "host/analysis/analyze.h"
#include "host/cli/commands/execute.h"
#include "host/document/names.h"
#include "host/report/fitted_text.h"

#include <algorithm>
#include <fmt/format.h>

namespace mqbridge {
namespace {

bool wants_verdict(const Dump& dump, const DumpCommand& command) {
  const bool seen = std::ranges::any_of(
      dump.ranks, [](const RankDump& rank) { return rank.status != RankStatus::failed; });
  if (!seen || !command.options.queues || command.format == Format::collect)
    return false;
  if (command.verdict.analyze != When::automatic)
    return command.verdict.analyze == When::always;
  if (command.format == Format::dot)
    return true;
  return (command.format == Format::text || command.format == Format::html) && !command.summary &&
         dump.ranks.size() > 1;
}

/// The reason why the demand is not met; empty: nothing is left open.
std::string why_unmet(const Analysis& analysis, Confidence least) {
  if (analysis.verdict == Verdict::deadlock)
    return fmt::format("the deadlock is no more than {}, and {} was asked for",
                       analysis.confidence ? name_of(*analysis.confidence) : "a guess",
                       name_of(least));
  if (analysis.verdict == Verdict::no_deadlock)
    return {};
  constexpr std::size_t most_words = 200;
  const auto& unseen = analysis.not_visible;
  return "whether the job is deadlocked is undecided" +
         (unseen.empty() ? "" : ": " + clipped(printable(unseen.front()), most_words));
}

} // namespace

bool meets(const Analysis& analysis, const FailOn& fail_on) {
  if (analysis.verdict == Verdict::undecided)
    return fail_on.stuck && analysis.unchanged_ms;
  return analysis.verdict == Verdict::deadlock && analysis.confidence &&
         *analysis.confidence >= fail_on.least;
}

int status_of_verdict(const std::optional<Analysis>& analysis, std::optional<FailOn> fail_on,
                      int status) {
  constexpr int interrupted = 128;
  if (!analysis || !fail_on || status > interrupted)
    return status;
  if (meets(*analysis, *fail_on))
    return exit_verdict;
  if (const auto why = why_unmet(*analysis, fail_on->least); !why.empty())
    print_on_stderr(fmt::format("mqbridge: --fail-on is not met: {}\n", why));
  return status;
}

void add_verdict(Dump& dump, const DumpCommand& command) {
  if (wants_verdict(dump, command))
    dump.analysis = analyze(dump);
}

} // namespace mqbridge
