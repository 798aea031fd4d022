#include "host/service/service.h"

#include "host/service/api.h"
#include "host/service/http_server.h"
#include "host/service/look_store.h"
#include "host/service/look_summary.h"
#include "host/service/service_manager.h"
#include "host/service/supervisor.h"
#include "host/service/visitors.h"
#include "rsp/server/listener.h"

#include <condition_variable>
#include <filesystem>
#include <fmt/format.h>
#include <mutex>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

namespace mqbridge {

Result<void> serve(const ServiceOptions& options, ServiceConfig config, const ServiceReady& ready,
                   std::function<void(const std::string&)> log, const std::stop_token& stop) {
  std::vector<rsp::Listener> listeners;
  auto passed = passed_socket();
  if (const auto* const socket = std::get_if<rsp::UnixEndpoint>(&options.listen.where)) {
    std::error_code ignored; // the socket says why
    std::filesystem::create_directories(std::filesystem::path(socket->path).parent_path(), ignored);
  }
  for (const auto& endpoint : {std::optional(options.listen), options.browser}) {
    if (!endpoint)
      continue;
    auto listener = passed ? rsp::Listener::of_passed(*std::exchange(passed, std::nullopt))
                           : rsp::Listener::open(*endpoint);
    if (!listener)
      return fail(
          listener.error().code, listener.error().message,
          "--listen unix:PATH, in a folder of your own; mqbridge jobs, if one runs already");
    listeners.push_back(std::move(*listener));
  }
  auto store = LookStore::open(options.state, config.history);
  if (!store)
    return forward(std::move(store));
  const std::string socket = listeners.front().address();
  Visitors visitors(options.browser ? listeners.back().address() : "");
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
      std::move(log));
  Api api(supervisor, visitors, options.program);
  auto opened = HttpServer::open(std::move(listeners), api);
  if (!opened)
    return forward(std::move(opened));
  {
    const std::lock_guard lock(mutex);
    server = std::move(*opened);
  }
  ready(socket, options.browser ? visitors.invite() : "");
  tell_manager("READY=1");
  std::mutex waiting;
  std::unique_lock lock(waiting);
  std::condition_variable_any().wait(lock, stop, [] { return false; });
  tell_manager("STOPPING=1");
  std::unique_ptr<HttpServer> ending;
  {
    const std::lock_guard held(mutex);
    ending = std::move(server);
  }
  return {};
}

} // namespace mqbridge
