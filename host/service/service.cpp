#include "host/service/service.h"

#include "host/service/api.h"
#include "host/service/http_server.h"
#include "host/service/look_store.h"
#include "host/service/look_summary.h"
#include "host/service/service_manager.h"
#include "host/service/supervisor.h"
#include "host/service/visitors.h"
#include "rsp/server/listener.h"

#include <filesystem>
#include <fmt/format.h>
#include <mutex>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

namespace mqbridge {

namespace {

Result<rsp::Listener> open_socket(const rsp::Endpoint& endpoint) {
  if (auto passed = passed_socket())
    return rsp::Listener::of_passed(std::move(*passed));
  if (const auto* const socket = std::get_if<rsp::UnixEndpoint>(&endpoint.where)) {
    std::error_code ignored; // the socket says why
    std::filesystem::create_directories(std::filesystem::path(socket->path).parent_path(), ignored);
  }
  auto listener = rsp::Listener::open(endpoint);
  return listener ? std::move(listener)
                  : Result<rsp::Listener>(
                        fail(listener.error().code, listener.error().message,
                             "--listen unix:PATH, in a folder of your own; mqbridge jobs, if a "
                             "service runs already"));
}

/// For browsers: the port that they know, if it is free, else any.
Result<rsp::Listener> open_port(std::uint16_t known) {
  for (const std::uint16_t port : {known, std::uint16_t{0}}) {
    const auto endpoint = rsp::parse_listen(fmt::format("127.0.0.1:{}", port));
    auto listener = endpoint ? rsp::Listener::open(*endpoint)
                             : Result<rsp::Listener>(Failure(endpoint.error()));
    if (listener || port == 0)
      return listener;
  }
  return fail("listen.failed", "there is no port for browsers");
}

} // namespace

Result<void> serve(const ServiceOptions& options, ServiceConfig config, const ServiceReady& ready,
                   const NextConfig& next, const ServiceLog& log) {
  auto store = LookStore::open(options.state);
  if (!store)
    return forward(std::move(store));
  Visitors visitors(options.state / "browsers.json");
  std::vector<rsp::Listener> listeners;
  auto socket = open_socket(options.listen);
  if (!socket)
    return forward(std::move(socket));
  listeners.push_back(std::move(*socket));
  const std::string path = listeners.front().address();
  if (options.open) {
    auto port = open_port(visitors.port());
    if (!port)
      return forward(std::move(port));
    visitors.set_address(port->address());
    listeners.push_back(std::move(*port));
  }
  // The supervisor speaks to streams that the server has, and the server asks the supervisor.
  std::mutex mutex;
  std::unique_ptr<HttpServer> server;
  Supervisor supervisor(
      options.program, std::move(config), std::move(*store),
      [&](const nlohmann::json& job) {
        const std::lock_guard lock(mutex);
        if (server)
          server->publish(fmt::format("event: job\ndata: {}\n\n", printed(job)));
      },
      log);
  Api api(supervisor, visitors, options.program);
  auto opened = HttpServer::open(std::move(listeners), api);
  if (!opened)
    return forward(std::move(opened));
  {
    const std::lock_guard lock(mutex);
    server = std::move(*opened);
  }
  ready(path, options.open ? visitors.invite() : "");
  tell_manager("READY=1");
  while (auto read = next()) {
    tell_manager(reloading());
    if (*read) {
      log({fmt::format("the configuration was read again (jobs: {}); --listen, --open and --state "
                       "hold until the service is started again",
                       (*read)->jobs.size())});
      supervisor.reload(std::move(**read));
    } else {
      log({read->error().message + ": the configuration stays as it was", read->error().code});
    }
    tell_manager("READY=1");
  }
  tell_manager("STOPPING=1");
  std::unique_ptr<HttpServer> ending;
  {
    const std::lock_guard held(mutex);
    ending = std::move(server);
  }
  return {};
}

} // namespace mqbridge
