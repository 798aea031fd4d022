#pragma once

#include "rsp/client/client.h"
#include "rsp/result.h"

#include <optional>
#include <string>
#include <string_view>

namespace mqbridge {

/// The state of the process that is to be attached to, as ps shows it, asked before: two round
/// trips in which nothing is held. nullopt: another endpoint, or a stub that does not read it.
/// (Where a stub is attached already, the process is in its hands, and nothing tells what it was in
/// before.)
std::optional<std::string> remote_process_state(rsp::Client& client);

/// Warning target.stopped, where `state` is that of a process that a signal stopped. Such a process
/// stays stopped when it is released.
std::optional<Error> stopped_process_warning(std::string_view state, std::int64_t pid);

} // namespace mqbridge
