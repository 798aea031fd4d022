#pragma once

#include "host/cli/arguments/commands.h"

#include <optional>

namespace mqbridge {

/// Whether the verdict is one that --fail-on names.
bool meets(const Analysis& analysis, const FailOn& fail_on);

/// The exit status of a report that would end with `status`: 4 if --fail-on is met and nothing was
/// interrupted. If it is not met, but the verdict does not say that all is well either, stderr says
/// why.
int status_of_verdict(const std::optional<Analysis>& analysis, std::optional<FailOn> fail_on,
                      int status);

/// Analyzes the dump if that is wanted: then it has an analysis.
void add_verdict(Dump& dump, const DumpCommand& command);

} // namespace mqbridge
