#include "host/document/outcome.h"

#include <algorithm>
#include <fmt/format.h>

namespace mqbridge {
namespace {

/// "1 of 3 ranks failed, 1 partial, 1 error of no rank"
std::string counts_text(const Outcome& outcome) {
  const auto total = outcome.total();
  std::string text;
  const auto add = [&](std::uint64_t count, std::string_view of_all, std::string_view word) {
    text += fmt::format("{}{}{}{}", text.empty() ? "" : ", ", count, of_all, word);
  };
  const auto of_all = fmt::format(" of {} {}", total, total == 1 ? "rank" : "ranks");
  if (outcome.failed > 0 || outcome.partial + outcome.faults == 0)
    add(outcome.failed, of_all, " failed");
  if (outcome.partial > 0)
    add(outcome.partial, text.empty() ? of_all : "", " partial");
  if (outcome.faults > 0)
    add(outcome.faults, "", outcome.faults == 1 ? " error of no rank" : " errors of no rank");
  return text;
}

} // namespace

Outcome outcome_of(const Dump& dump) {
  Outcome outcome;
  for (const RankDump& rank : dump.ranks) {
    switch (rank.status) {
    case RankStatus::ok:
      ++outcome.complete;
      break;
    case RankStatus::partial:
      ++outcome.partial;
      break;
    case RankStatus::failed:
      ++outcome.failed;
      break;
    }
  }
  outcome.faults = static_cast<std::uint64_t>(std::ranges::count(
      dump.errors, RankError::Level::error, [](const RankError& error) { return error.level; }));
  return outcome;
}

int exit_status_of(const Outcome& outcome) {
  if (outcome.complete + outcome.partial == 0)
    return 3;
  return outcome.partial + outcome.failed + outcome.faults == 0 ? 0 : 1;
}

std::string exit_line(const Outcome& outcome, int status) {
  if (status == 0)
    return {};
  std::string line = fmt::format("exit {}: ", status);
  if (status == 4)
    return line + "--fail-on is met";
  if (status == 3)
    line += "nothing could be dumped: ";
  else if (status > 128)
    line += "interrupted, every target released: ";
  return line + counts_text(outcome);
}

} // namespace mqbridge
