#include "host/document/outcome.h"

#include <fmt/format.h>

namespace mqbridge {

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
  return outcome;
}

int exit_status_of(const Outcome& outcome) {
  if (outcome.complete + outcome.partial == 0)
    return 3;
  return outcome.partial + outcome.failed == 0 ? 0 : 1;
}

std::string exit_line(const Outcome& outcome, int status) {
  if (status == 0)
    return {};
  const auto total = outcome.total();
  std::string line = fmt::format("exit {}: ", status);
  if (status == 3)
    line += "nothing could be dumped: ";
  else if (status > 128)
    line += "interrupted, every target released: ";
  const char* ranks = total == 1 ? "rank" : "ranks";
  if (outcome.failed > 0 && outcome.partial > 0)
    return line + fmt::format("{} of {} {} failed, {} partial", outcome.failed, total, ranks,
                              outcome.partial);
  if (outcome.partial > 0)
    return line + fmt::format("{} of {} {} partial", outcome.partial, total, ranks);
  return line + fmt::format("{} of {} {} failed", outcome.failed, total, ranks);
}

} // namespace mqbridge
