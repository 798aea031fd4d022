#pragma once

#include "host/service/service_config.h"
#include "rsp/result.h"
#include "rsp/transport/endpoint.h"

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>

namespace mqbridge {

struct ServiceOptions {
  rsp::Endpoint listen;        ///< a Unix socket, unless systemd passes one
  bool open = false;           ///< a port of the loopback interface, for browsers
  std::filesystem::path state; ///< where looks are kept
  std::string program;         ///< this one, as it can be started
};

/// `socket`: its path. `link`: for a browser; empty: there is none.
using ServiceReady = std::function<void(const std::string& socket, const std::string& link)>;

/// Serves until `stop`. `ready` is called once;
/// `log` with what nobody asks for, a line without its end.
/// All targets of looks under way go on then. Errors: listen.failed, files.store, service.library.
Result<void> serve(const ServiceOptions& options, ServiceConfig config, const ServiceReady& ready,
                   std::function<void(const std::string&)> log, const std::stop_token& stop);

} // namespace mqbridge
