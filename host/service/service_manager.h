#pragma once

#include "rsp/unique_fd.h"

#include <optional>
#include <string>
#include <string_view>

namespace mqbridge {

// What systemd, or another manager of services with its interface, says to a service, and hears
// from it (sd_listen_fds(3), sd_notify(3)).

/// The socket on which it listens for us (socket activation); nullopt: there is none. To be called
/// once.
std::optional<rsp::UniqueFd> passed_socket();

/// "READY=1", "STOPPING=1", reloading(). Without a manager nothing happens.
void tell_manager(std::string_view state);

/// That it reads its configuration again, from now until it is ready: the manager asks for the
/// time, to know which of its requests is meant.
std::string reloading();

} // namespace mqbridge
