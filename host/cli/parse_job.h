#pragma once

#include "host/cli/raw_options.h"
#include "host/cli/targets.h"
#include "host/launch/launch_options.h"
#include "rsp/result.h"

namespace mqbridge {

// The options that say which processes a command is about, and how their nodes are reached. Errors:
// usage, usage.value, those of TargetSpec::parse_all and read_targets_file.

/// What was named, and what is to be found; `or_this_host`: without any, the jobs of this host.
Result<TargetChoice> parse_choice(const RawOptions& raw, bool or_this_host);

/// The job that options name, which may be none.
Result<JobRequest> parse_request(const RawOptions& raw);

Result<LaunchOptions> parse_launch(const RawOptions& raw);

} // namespace mqbridge
