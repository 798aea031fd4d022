#pragma once

#include "host/cli/commands.h"

#include <optional>

namespace mqbridge {

/// Is the verdict a deadlock, and at least so sure?
bool meets(const Analysis& analysis, Confidence least);

/// The exit status of a report that would end with `status`: 4 where --fail-on is met and nothing
/// was interrupted. Where it is not met although nothing tells that all is well, stderr says why.
int status_of_verdict(const std::optional<Analysis>& analysis, std::optional<Confidence> fail_on,
                      int status);

/// Analyzes the dump where that is wanted: then it has an analysis.
void add_verdict(Dump& dump, const DumpCommand& command);

} // namespace mqbridge
