#include "host/cli/arguments/parse_verdict.h"

#include "host/cli/arguments/option_values.h"
#include "host/document/names.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace mqbridge {
namespace {

using Pause = std::optional<std::chrono::milliseconds>;

/// The usual pause, where nothing was given; 0: no second look.
Result<Pause> parse_twice(const std::string& text, Pause usual) {
  if (text.empty())
    return usual;
  if (text == "0")
    return Pause();
  auto seconds = parse_seconds("--twice", text);
  if (!seconds)
    return fail("usage.value",
                fmt::format("--twice {}: expected seconds, or 0: no second look", text),
                "write --twice 2.5");
  return Pause(*seconds);
}

Result<std::optional<FailOn>> maybe_fail_on(const std::string& text) {
  if (text.empty())
    return std::optional<FailOn>();
  auto least = parse_fail_on("--fail-on", text);
  if (!least)
    return forward(std::move(least));
  return std::optional(*least);
}

} // namespace

Result<FailOn> parse_fail_on(std::string_view option, std::string_view text) {
  constexpr std::string_view word = "deadlock";
  if (text == word)
    return FailOn{};
  if (text == "stuck")
    return FailOn{Confidence::possible, true};
  const bool named = text.starts_with(word) && text.substr(word.size()).starts_with(':');
  const auto least = named ? value_named<Confidence>(text.substr(word.size() + 1)) : std::nullopt;
  if (!least)
    return fail("usage.value",
                fmt::format("{} {}: expected deadlock, or deadlock:possible, deadlock:likely, "
                            "deadlock:certain or stuck",
                            option, text),
                fmt::format("write {} deadlock", option));
  return FailOn{*least};
}

Result<VerdictChoice> parse_verdict(const RawOptions& raw) {
  auto fail_on = maybe_fail_on(raw.fail_on);
  if (!fail_on)
    return forward(std::move(fail_on));
  const bool asked = raw.analyze || *fail_on;
  if (raw.no_analyze && asked)
    return fail("usage",
                fmt::format("--no-analyze and {} contradict each other",
                            raw.analyze ? "--analyze" : "--fail-on"),
                "write one of them");
  if (!raw.twice.empty() && raw.twice != "0" && !raw.run_until.empty())
    return fail("usage",
                "--twice attaches again, and what a stub has started (--run-until) is gone then",
                "leave one of them out");
  const Pause usual = asked && raw.run_until.empty() ? Pause(std::chrono::seconds(2)) : Pause();
  auto again = parse_twice(raw.twice, usual);
  if (!again)
    return forward(std::move(again));
  const auto analyze = asked ? When::always : raw.no_analyze ? When::never : When::automatic;
  return VerdictChoice{analyze, *again, *fail_on};
}

Result<Command> analyze_command(const RawOptions& raw) {
  auto fail_on = maybe_fail_on(raw.fail_on);
  if (!fail_on)
    return forward(std::move(fail_on));
  auto documents = raw.documents;
  if (!raw.before.empty())
    documents.push_back(raw.before);
  if (std::ranges::count(documents, "-") > 1)
    return fail("usage", "mqbridge analyze: stdin (-) is named twice", "name files beside it");
  return Command(AnalyzeCommand{raw.documents, raw.before, *fail_on, raw.format, raw.full,
                                raw.output, raw.color, raw.redact});
}

} // namespace mqbridge
