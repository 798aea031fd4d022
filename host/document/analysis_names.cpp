#include "host/document/names.h"

namespace mqbridge {

std::string_view name_of(Verdict value) {
  switch (value) {
  case Verdict::deadlock:
    return "deadlock";
  case Verdict::no_deadlock:
    return "no_deadlock";
  case Verdict::undecided:
    return "undecided";
  }
  return {};
}

std::string_view name_of(Confidence value) {
  switch (value) {
  case Confidence::possible:
    return "possible";
  case Confidence::likely:
    return "likely";
  case Confidence::certain:
    return "certain";
  }
  return {};
}

std::string_view name_of(FindingKind value) {
  switch (value) {
  case FindingKind::cycle:
    return "cycle";
  case FindingKind::knot:
    return "knot";
  case FindingKind::partner_gone:
    return "partner_gone";
  case FindingKind::partner_finalized:
    return "partner_finalized";
  case FindingKind::missing_partner:
    return "missing_partner";
  case FindingKind::tag_mismatch:
    return "tag_mismatch";
  case FindingKind::communicator_mismatch:
    return "communicator_mismatch";
  case FindingKind::source_mismatch:
    return "source_mismatch";
  case FindingKind::too_long:
    return "too_long";
  case FindingKind::orphan_unexpected:
    return "orphan_unexpected";
  case FindingKind::never_started:
    return "never_started";
  case FindingKind::rank_exited:
    return "rank_exited";
  case FindingKind::collective_mismatch:
    return "collective_mismatch";
  case FindingKind::straggler:
    return "straggler";
  case FindingKind::needs_progress:
    return "needs_progress";
  case FindingKind::stuck_transport:
    return "stuck_transport";
  case FindingKind::polling:
    return "polling";
  case FindingKind::backlog:
    return "backlog";
  case FindingKind::suspended:
    return "suspended";
  case FindingKind::unknown_wait:
    return "unknown_wait";
  case FindingKind::repaired_value:
    return "repaired_value";
  }
  return {};
}

std::string_view name_of(WaitsFor value) {
  return value == WaitsFor::all ? "and" : "or";
}

std::string_view name_of(RankChange value) {
  switch (value) {
  case RankChange::same:
    return "same";
  case RankChange::moved:
    return "moved";
  case RankChange::appeared:
    return "new";
  case RankChange::gone:
    return "gone";
  case RankChange::other_process:
    return "other_process";
  case RankChange::unknown:
    return "unknown";
  }
  return {};
}

} // namespace mqbridge
