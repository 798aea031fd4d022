#pragma once

#include "rsp/unique_fd.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace mqbridge {

// What systemd, or another manager of services with its interface, says to a service, and hears
// from it (sd_listen_fds(3), sd_notify(3), systemd's JOURNAL_NATIVE_PROTOCOL).

/// The socket on which it listens for us (socket activation); nullopt: there is none. To be called
/// once.
std::optional<rsp::UniqueFd> passed_socket();

/// "READY=1", "STOPPING=1", reloading(). Without a manager nothing happens.
void tell_manager(std::string_view state);

/// That it reads its configuration again, from now until it is ready: the manager asks for the
/// time, to know which of its requests is meant.
std::string reloading();

/// What the service says though nobody asks for it.
struct LogLine {
  std::string message;        ///< without its end
  std::string_view code = {}; ///< of an error; empty: it is none
  std::string job = {};       ///< its name; empty: of none; so below
  std::string look = {};
};
using ServiceLog = std::function<void(const LogLine&)>;

/// To the journal, each part in a field of its own: MESSAGE, PRIORITY, MQBRIDGE_CODE, MQBRIDGE_JOB,
/// MQBRIDGE_LOOK. False: stderr is not connected to the journal, or that takes nothing.
bool tell_journal(const LogLine& line, std::string_view socket = "/run/systemd/journal/socket");

} // namespace mqbridge
