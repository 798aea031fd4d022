#pragma once

#include "host/service/service_config.h"
#include "host/service/service_manager.h"
#include "rsp/result.h"
#include "rsp/transport/endpoint.h"

#include <filesystem>
#include <functional>
#include <optional>
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

/// Waits until the configuration is to be read again, and reads it; nullopt: the service is to end.
using NextConfig = std::function<std::optional<Result<ServiceConfig>>()>;

/// Serves until `next` says that it is to end. `ready` is called once. A next configuration that is
/// wrong is logged, and nothing changes.
/// All targets of looks under way go on at the end. Errors: listen.failed, files.store,
/// service.library.
Result<void> serve(const ServiceOptions& options, ServiceConfig config, const ServiceReady& ready,
                   const NextConfig& next, const ServiceLog& log);

} // namespace mqbridge
