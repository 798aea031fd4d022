#pragma once

#include "host/dump/values/analysis.h"
#include "host/report/paint.h"

#include <map>
#include <string>
#include <string_view>

namespace mqbridge {

/// The heading of a finding: "cycle", "not started".
std::string_view label_of(FindingKind kind);

/// Whether the finding is about ranks that can never go on: a cycle or a knot.
bool holds_core(const Finding& finding);

/// The verdict in words: "DEADLOCK (certain)", then ": 4 ranks in a cycle, 508 wait behind;
/// unchanged over 5.0 s".
struct VerdictLine {
  std::string verdict;
  std::string more; ///< may be empty
  Style style = Style::plain;
};
VerdictLine verdict_line(const Analysis& analysis);

/// Core and blocked ranks by job; of a single job under "".
std::map<std::string, JobVerdict> verdicts_by_job(const Analysis& analysis);

} // namespace mqbridge
