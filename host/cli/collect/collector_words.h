#pragma once

#include "host/cli/arguments/raw_options.h"
#include "host/dump/target/target_spec.h"
#include "rsp/result.h"

#include <span>
#include <string>
#include <vector>

namespace mqbridge {

/// The user's options that say how a process is reached and where its files are, for another look
/// at it from this host. Paths are absolute.
std::vector<std::string> look_words(const RawOptions& raw);

/// The words for `mqbridge dump` on the nodes, behind "dump": the user's options that say how to
/// dump ranks. Options that choose ranks or show the result are left out. Files are the nodes' own,
/// with the same absolute paths. Error: usage, for an option that makes no sense on many computers.
Result<std::vector<std::string>> collector_words(const RawOptions& raw);

/// Error: usage, for a target that cannot be described to a collector on its node.
Result<void> check_collectable(std::span<const TargetSpec> targets);

} // namespace mqbridge
