#pragma once

#include "host/dump/values/analysis.h"
#include "tests/analysis/scene.h"

#include <set>
#include <string>

namespace mqbridge::sim {

/// What is wrong with a verdict on a scene, by the oracle; empty: nothing is.
///
/// - Whom it calls deadlocked is dead, whatever the document leaves out; without counters only the
///   core. As `possible` it may be wrong, but not of a complete document of a job that does not
///   move.
/// - By arguments alone it is never `certain`, and never wrong.
/// - It says `no_deadlock` of no job with a rank that is certainly dead, but as `possible`.
/// - Of a complete document it says `deadlock` where ranks are certainly dead, with all of them;
/// and
///   `no_deadlock` where nobody is dead. Where both bounds agree, core and blocked are exact.
/// - It is `certain` only of complete documents with two looks.
std::string fault_of(const Analysis& analysis, const Scene& scene);

/// Core and blocked ranks.
std::set<int> deadlocked(const Analysis& analysis);

} // namespace mqbridge::sim
