#pragma once

#include "host/cli/arguments/raw_options.h"
#include "host/cli/targets/targets.h"
#include "host/launch/launch_options.h"
#include "rsp/result.h"

namespace mqbridge {

// The options that name the processes of a command, and the ways to their nodes. Errors: usage,
// usage.value, those of TargetSpec::parse_all and read_targets_file.

/// The named targets, and the jobs to be found. `or_this_host`: if there are none, the jobs of this
/// host.
Result<TargetChoice> parse_choice(const RawOptions& raw, bool or_this_host);

/// The job that options name, which may be none.
Result<JobRequest> parse_request(const RawOptions& raw);

Result<LaunchOptions> parse_launch(const RawOptions& raw);

} // namespace mqbridge
