#pragma once

#include "host/cli/commands/execute.h"
#include "host/cli/terminal/rank_lines.h"
#include "host/cli/terminal/session.h"

namespace mqbridge {

/// The dump of --collect: plans the collectors, runs them, and reports their progress on stderr.
/// Errors: those of plan_collectors(), guardian.start.
Result<Dump> collect_dump(const DumpCommand& command, const DumpOptions& options,
                          const Installation& installation, RankLines& lines, Session& session,
                          bool shows_progress);

} // namespace mqbridge
