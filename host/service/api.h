#pragma once

#include "host/service/http_message.h"
#include "host/service/http_server.h"
#include "host/service/supervisor.h"
#include "host/service/visitors.h"

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// What the service says over HTTP (page/openapi.json), and to whom. By the Unix
/// socket comes this user. By a port of the loopback interface come browsers that have entered by a
/// link (Visitors), with requests of the service's own pages: neither another site's, nor those of
/// a name that was made to mean this host (DNS rebinding).
class Api final : public HttpHandler {
public:
  /// `program`: this one, as it can be started. All arguments outlive this.
  Api(Supervisor& supervisor, Visitors& visitors, std::string program)
      : supervisor_(supervisor), visitors_(visitors), program_(std::move(program)) {}

  HttpResponse answer(const HttpRequest& request, const std::stop_token& stop) override;
  bool is_slow(const HttpRequest& request) const override;

private:
  std::optional<HttpResponse> refused(const HttpRequest& request) const;
  HttpResponse route(const HttpRequest& request, const std::stop_token& stop);
  HttpResponse named(const HttpRequest& request, const std::string& name,
                     const std::stop_token& stop);
  HttpResponse jobs(const HttpRequest& request, const std::vector<std::string>& path);
  HttpResponse looks(const HttpRequest& request, const std::vector<std::string>& path,
                     const std::stop_token& stop);
  HttpResponse document(const HttpRequest& request, const std::string& job, const std::string& id);
  HttpResponse shown(const HttpRequest& request, const std::string& job, const std::string& id,
                     const std::stop_token& stop);
  HttpResponse add_job(const HttpRequest& request);
  HttpResponse found(const std::stop_token& stop) const;
  HttpResponse events() const;
  HttpResponse invite();
  HttpResponse enter(const HttpRequest& request);

  Supervisor& supervisor_;
  Visitors& visitors_;
  const std::string program_;
};

} // namespace mqbridge
