#pragma once

#include <cstdint>
#include <string_view>
#include <sys/types.h>

namespace mqbridge::rsp::guardian {

/// What keeps mqbridge from releasing its targets though it is not dead.
enum class ClientState : std::uint8_t {
  active,    ///< nothing, or it cannot be known
  suspended, ///< stopped by a signal: SIGSTOP, Ctrl-Z, a write to the terminal from the background
  dumping,   ///< it has crashed, and its memory is being written: its sockets close after that only
};

/// From the text of /proc/PID/status. A debugger that stops mqbridge does not make it suspended:
/// whoever steps through it wants its connections to stay.
ClientState parse_client_state(std::string_view status);

/// Of a process; active if there is none, or no /proc.
ClientState client_state(pid_t pid);

} // namespace mqbridge::rsp::guardian
