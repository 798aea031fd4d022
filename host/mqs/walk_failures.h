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

/// What the worker itself said.
Error reported_failure(const std::filesystem::path& dll, wire::FailureKind kind,
                       const std::string& text);

/// It is gone, and did not say why.
Error death(const std::filesystem::path& dll, sandbox::WaitStatus status,
            const wire::SharedState& shared);

/// It ran longer than `limit`.
Error overrun(const std::filesystem::path& dll, std::chrono::milliseconds limit,
              const wire::SharedState& shared);

/// By the user.
Error interrupted();

/// It was not through when --max-stop was over.
Error held_too_long();

/// It was not through when --max-walk was over.
Error walk_too_long(const std::filesystem::path& dll, const wire::SharedState& shared);

/// It lists more than may be kept. `limit` is one.
Error limit_met(const std::filesystem::path& dll, WalkLimit limit);

/// It sent what no worker sends: the DLL has broken it.
Error protocol_violation(const std::filesystem::path& dll);

/// "in mqs_next_operation (last callback: mqs_fetch_data of 0x1000)", as the shared page has it.
std::string where(const wire::SharedState& shared);

} // namespace mqbridge
