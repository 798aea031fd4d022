#pragma once

#include "host/cli/raw_options.h"
#include "host/dump/target_spec.h"
#include "rsp/result.h"

#include <span>
#include <string>
#include <vector>

namespace mqbridge {

/// What `mqbridge dump` on the nodes is told of the user's options, behind "dump": what says how
/// ranks are dumped, and not which, nor how the result is shown. Files are the nodes' own, with the
/// same absolute paths. Error: usage, of an option that makes no sense on many computers at once.
Result<std::vector<std::string>> collector_words(const RawOptions& raw);

/// Error: usage, of a target that a collector on its node cannot be told.
Result<void> check_collectable(std::span<const TargetSpec> targets);

} // namespace mqbridge
