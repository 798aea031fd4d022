#pragma once

#include "host/cli/execute.h"
#include "host/cli/rank_lines.h"
#include "host/cli/session.h"

namespace mqbridge {

/// The dump of --collect: plans the collectors, runs them, and tells on stderr how far they are.
/// Errors: those of plan_collectors(), guardian.start.
Result<Dump> collect_dump(const DumpCommand& command, const DumpOptions& options,
                          const Installation& installation, RankLines& lines, Session& session,
                          bool shows_progress);

} // namespace mqbridge
