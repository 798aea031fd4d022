#pragma once

#include "host/cli/arguments/raw_options.h"
#include "host/cli/targets/targets.h"
#include "host/launch/launch_options.h"
#include "rsp/result.h"

#include <cstdint>
#include <string_view>

namespace mqbridge {

// The options that name the processes of a command, and the ways to their nodes. Errors: usage,
// usage.value, those of TargetSpec::parse_all and read_targets_file.

/// The meaning of a command line without targets.
enum class NoTarget : std::uint8_t { wrong, sole_job, all_jobs };

/// The named targets, and the jobs to be found. If there are none: wrong usage, the one job of this
/// host, which `command` is about, or all of its jobs.
Result<TargetChoice> parse_choice(const RawOptions& raw, NoTarget without,
                                  std::string_view command = {});

/// The job that options name, which may be none.
Result<JobRequest> parse_request(const RawOptions& raw);

Result<LaunchOptions> parse_launch(const RawOptions& raw);

} // namespace mqbridge
