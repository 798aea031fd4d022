#pragma once

#include "host/disk/file_descriptor.h"
#include "host/service/service_config.h"
#include "rsp/result.h"

#include <filesystem>
#include <stop_token>
#include <string>

namespace mqbridge {

/// Runs the command of a job that is stuck, for a minute at most. Before, the page of the look is
/// written to `report`. Errors: those of write_shown() and run_command(), service.command (it has
/// failed).
Result<void> run_notice(const std::string& program, const ServiceJob& job, FileDescriptor document,
                        const std::filesystem::path& report, const std::stop_token& stop);

} // namespace mqbridge
