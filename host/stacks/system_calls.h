#pragma once

#include "host/memory/address.h"
#include "host/memory/platform.h"
#include "host/process/process_thread.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace mqbridge {

/// Copies code of the process at an address; false: it is not known.
using CodeReader = std::function<bool(TargetAddress, std::span<std::byte>)>;

/// The number of the system call that a thread is in, by its registers and by the instruction that
/// they stand at: the kernel shows a waiting call as one that is interrupted. nullopt: it is in
/// none, or they do not tell.
std::optional<int> current_system_call(const ProcessThread& thread, const Platform& platform,
                                       const CodeReader& code);

/// "futex". nullopt: no such call, or an architecture whose numbers are not known here.
std::optional<std::string> system_call_name(const Platform& platform, int number);

} // namespace mqbridge
