#pragma once

#include "host/confined/child.h"
#include "host/mqs/batch_reader.h"
#include "host/mqs/shared_state.h"
#include "rsp/result.h"

#include <chrono>
#include <filesystem>
#include <string>

namespace mqbridge {

/// Words for the ways in which a worker's walk ends early. Each names the DLL.

/// The failure that the worker itself reported.
Error reported_failure(const std::filesystem::path& dll, wire::FailureKind kind,
                       const std::string& text);

/// The worker has ended, and did not say why.
Error death(const std::filesystem::path& dll, sandbox::WaitStatus status,
            const wire::SharedState& shared);

/// It ran longer than `limit`.
Error overrun(const std::filesystem::path& dll, std::chrono::milliseconds limit,
              const wire::SharedState& shared);

/// The user has interrupted the walk.
Error interrupted();

/// The walk was not finished when --max-stop was over.
Error held_too_long();

/// The walk was not finished when --max-walk was over.
Error walk_too_long(const std::filesystem::path& dll, const wire::SharedState& shared);

/// The DLL lists more than may be kept. `limit` is not none.
Error limit_met(const std::filesystem::path& dll, WalkLimit limit);

/// The worker sent a message that no worker sends: the DLL has broken it.
Error protocol_violation(const std::filesystem::path& dll);

/// "in mqs_next_operation (last callback: mqs_fetch_data of 0x1000)", as the shared page has it.
std::string where(const wire::SharedState& shared);

} // namespace mqbridge
