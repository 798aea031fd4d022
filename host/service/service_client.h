#pragma once

#include "rsp/result.h"

#include <string>

namespace mqbridge {

/// One request to a service of this user, by its Unix socket: the body of its answer. Errors:
/// service.not_running, service.refused (with what the service says).
Result<std::string> ask_service(const std::string& socket_path, const std::string& method,
                                const std::string& path, const std::string& body = {});

} // namespace mqbridge
