#include "host/service/api.h"

#include "host/codes.h"
#include "host/disk/command_output.h"
#include "host/disk/output_file.h"
#include "host/disk/text_file.h"
#include "host/service/look_summary.h"
#include "host/service/page.h"
#include "host/service/shown_document.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <utility>

namespace mqbridge {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

/// RFC 9457.
HttpResponse problem(int status, std::string_view title, const Error& error) {
  return {.status = status,
          .type = "application/problem+json",
          .body = printed({{"title", title},
                           {"status", status},
                           {"code", error.code},
                           {"detail", error.message},
                           {"hint", error.hint}})};
}

HttpResponse not_found(const Error& error) {
  return problem(404, "not found", error);
}

HttpResponse not_here(const HttpRequest& request) {
  return not_found({"service.no_page", fmt::format("there is nothing at {}", request.path),
                    "/v1/openapi.json says what there is"});
}

HttpResponse not_allowed(std::string methods) {
  auto response = problem(405, "method not allowed",
                          {"service.method", "this is not done by that method", methods});
  response.headers.emplace_back("Allow", std::move(methods));
  return response;
}

HttpResponse reply(const json& value, int status = 200) {
  return {.status = status, .body = printed(value) + "\n"};
}

HttpResponse reply(const Result<json>& value, int status) {
  return value ? reply(*value, status) : not_found(value.error());
}

/// "/v1/jobs/weather" without its first two parts: {"jobs", "weather"}.
std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  while (path.starts_with('/')) {
    path.remove_prefix(1);
    const auto part = path.substr(0, path.find('/'));
    parts.emplace_back(part);
    path.remove_prefix(part.size());
  }
  return parts;
}

/// Whether it is a name of this host as its own browsers write it, with any port (ssh -L).
bool is_loopback(std::string_view host) {
  for (const std::string_view name : {"127.0.0.1", "localhost", "[::1]"}) {
    if (!host.starts_with(name))
      continue;
    const auto rest = host.substr(name.size());
    return rest.empty() ||
           (rest.starts_with(':') &&
            std::ranges::all_of(rest.substr(1), [](char c) { return c >= '0' && c <= '9'; }));
  }
  return false;
}

struct Shown {
  std::string_view format;
  const char* type;
};
constexpr std::array shown_formats = {
    Shown{"text", "text/plain; charset=utf-8"}, Shown{"json", "application/json"},
    Shown{"html", "text/html; charset=utf-8"}, Shown{"tsv", "text/tab-separated-values"},
    Shown{"dot", "text/vnd.graphviz"}};

const Shown* shown_format(std::string_view name) {
  const auto* const found = std::ranges::find(shown_formats, name, &Shown::format);
  return found == shown_formats.end() ? nullptr : found;
}

/// For Prometheus. Names of jobs need no escapes.
std::string metrics_of(const json& jobs) {
  std::string text;
  const auto add = [&](const char* name, const char* help, const auto& value_of) {
    text += fmt::format("# HELP mqbridge_{0} {1}\n# TYPE mqbridge_{0} gauge\n", name, help);
    for (const json& job : jobs)
      if (const json value = value_of(job); !value.is_null())
        text += fmt::format("mqbridge_{}{{job=\"{}\"}} {}\n", name,
                            job["name"].get_ref<const std::string&>(), value.dump());
  };
  const auto of_look = [](const json& job, const char* name) {
    return job["last_look"].is_object() ? job["last_look"][name] : json();
  };
  add("looks", "Looks that are kept.", [](const json& job) { return job["looks"]; });
  add("looking", "1 while the job is looked at.",
      [](const json& job) { return json(job["state"] == "looking" ? 1 : 0); });
  add("stuck", "1 while the last look that saw something saw a deadlock, likely or certain.",
      [](const json& job) { return json(job["stuck_since"].is_null() ? 0 : 1); });
  add("look_failed", "1 while the last look has an error, or was not kept.", [&](const json& job) {
    return json(job["error"].is_null() && of_look(job, "error").is_null() ? 0 : 1);
  });
  add("look_duration_ms", "How long the last look took.",
      [&](const json& job) { return of_look(job, "duration_ms"); });
  add("look_held_ms", "For how long the last look held at least one rank.",
      [&](const json& job) { return of_look(job, "stalled_ms"); });
  return text;
}

/// The service's own pages run no script but their own, and are in no frame.
void keep_apart(HttpResponse& response) {
  auto& headers = response.headers;
  headers.emplace_back("X-Content-Type-Options", "nosniff");
  headers.emplace_back("Referrer-Policy", "no-referrer");
  headers.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
  const auto has_policy = std::ranges::any_of(
      headers, [](const auto& header) { return header.first == "Content-Security-Policy"; });
  if (!has_policy)
    headers.emplace_back("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
}

} // namespace

HttpResponse Api::answer(const HttpRequest& request, const std::stop_token& stop) {
  auto refusal = refused(request);
  HttpResponse response = refusal ? std::move(*refusal) : route(request, stop);
  keep_apart(response);
  return response;
}

bool Api::is_slow(const HttpRequest& request) const {
  const bool takes_long = request.path.ends_with("/v1/found") ||
                          request.path.ends_with("/document") || request.path.ends_with("/report");
  return takes_long && !refused(request); // a stranger keeps nobody waiting
}

/// Who does not come in; nullopt: the request is one of this user's.
std::optional<HttpResponse> Api::refused(const HttpRequest& request) const {
  if (request.is_of_unix_socket)
    return std::nullopt;
  const auto host = request.header("host");
  const auto origin = request.header("origin");
  const auto forbidden = [](std::string_view code, std::string words) {
    return problem(403, "forbidden",
                   {code, std::move(words), "mqbridge serve --open prints a link"});
  };
  if (!is_loopback(host))
    return forbidden("service.host", "this service is that of no such host");
  if (!origin.empty() && origin != "http://" + std::string(host))
    return forbidden("service.origin", "another site asks for this");
  if (request.path == visitors_.path() + "/enter")
    return std::nullopt;
  if (!request.path.starts_with(visitors_.path() + "/") ||
      !visitors_.knows(request.header("cookie")))
    return problem(401, "who are you?",
                   {"service.stranger", "this browser has not entered by a link",
                    "mqbridge serve --open prints a new link"});
  if (request.method != "GET" && request.method != "HEAD" && origin.empty())
    return forbidden("service.origin", "a change needs its Origin");
  return std::nullopt;
}

HttpResponse Api::route(const HttpRequest& asked, const std::stop_token& stop) {
  HttpRequest request = asked;
  if (!request.is_of_unix_socket)
    request.path.erase(0, visitors_.path().size());
  const bool reads = request.method == "GET" || request.method == "HEAD";
  const auto path = parts_of(request.path);
  if (path.size() == 1 && path[0] == "enter" && !request.is_of_unix_socket)
    return enter(request);
  if (path.size() == 1 && path[0] == "metrics")
    return reads ? HttpResponse{.type = "text/plain; version=0.0.4",
                                .body = metrics_of(supervisor_.jobs())}
                 : not_allowed("GET, HEAD");
  if (path.size() == 1)
    if (const auto* const file = page::find(path[0]); file != nullptr && reads)
      return {.type = std::string(file->type),
              .body = std::string(file->text),
              .headers = {{"Content-Security-Policy", std::string(page::policy)},
                          {"Cache-Control", "no-cache"}}};
  if (path.size() < 2 || path[0] != "v1")
    return not_here(request);
  if (path[1] == "jobs")
    return path.size() <= 3 ? jobs(request, path) : looks(request, path, stop);
  return path.size() == 2 ? named(request, path[1], stop) : not_here(request);
}

/// /v1/NAME.
HttpResponse Api::named(const HttpRequest& request, const std::string& name,
                        const std::stop_token& stop) {
  if (name == "links" && request.is_of_unix_socket)
    return request.method == "POST" ? invite() : not_allowed("POST");
  if (name == "events") // HEAD would be answered with a body
    return request.method == "GET" ? events() : not_allowed("GET");
  if (name != "found" && name != "openapi.json")
    return not_here(request);
  if (request.method != "GET" && request.method != "HEAD")
    return not_allowed("GET, HEAD");
  return name == "found" ? found(stop) : HttpResponse{.body = std::string(page::openapi)};
}

HttpResponse Api::invite() {
  if (visitors_.address().empty())
    return problem(409, "conflict",
                   {"service.no_browser", "this service has no port for browsers",
                    "end it, and start it with mqbridge serve --open"});
  return reply(json{{"link", visitors_.invite()}}, 201);
}

HttpResponse Api::enter(const HttpRequest& request) {
  const auto cookie =
      request.method == "GET" ? visitors_.enter(request.parameter("key")) : std::nullopt;
  if (!cookie)
    return problem(401, "no such link",
                   {"service.stranger", "the link was used already, or is older than five minutes",
                    "mqbridge serve --open prints a new one"});
  // A redirection would be part of the visit of the page that has the link, and have no cookie.
  return {
      .type = "text/html; charset=utf-8",
      .body =
          "<!DOCTYPE html><html lang=\"en\"><title>mqbridge</title>"
          "<meta http-equiv=\"refresh\" content=\"0;url=./\"><a href=\"./\">the jobs</a></html>",
      .headers = {{"Set-Cookie", *cookie}, {"Cache-Control", "no-store"}}};
}

/// /v1/jobs and /v1/jobs/NAME.
HttpResponse Api::jobs(const HttpRequest& request, const std::vector<std::string>& path) {
  if (path.size() == 2) {
    if (request.method == "GET" || request.method == "HEAD")
      return reply(json{{"jobs", supervisor_.jobs()}});
    return request.method == "POST" ? add_job(request) : not_allowed("GET, HEAD, POST");
  }
  const std::string& name = path[2];
  if (request.method == "DELETE") {
    const auto removed = supervisor_.remove(name);
    if (removed)
      return {.status = 204};
    return removed.error().code == codes::service_no_job
               ? not_found(removed.error())
               : problem(409, "conflict", removed.error());
  }
  if (request.method != "GET" && request.method != "HEAD")
    return not_allowed("GET, HEAD, DELETE");
  return reply(supervisor_.job(name), 200);
}

/// {"mpirun": 4711} or {"slurm": 12}, and a name. Nothing else of a client becomes an option.
HttpResponse Api::add_job(const HttpRequest& request) {
  const json asked = json::parse(request.body, nullptr, false);
  const auto bad = [](std::string detail) {
    return problem(400, "bad request",
                   {"service.request", std::move(detail),
                    R"({"mpirun": 4711} or {"slurm": 12}, and "name" if it shall have one)"});
  };
  if (!asked.is_object())
    return bad("the body is no JSON object");
  ServiceJob job;
  for (const auto& [key, value] : asked.items()) {
    if (key == "name" && value.is_string() && is_job_name(value.get_ref<const std::string&>())) {
      job.name = value;
    } else if (auto words = words_of_job(key, value.is_number_unsigned() ? value.dump() : "");
               words && job.words.empty()) {
      job.words = std::move(*words);
      if (job.name.empty() && !asked.contains("name"))
        job.name = fmt::format("{}-{}", key, value.dump());
    } else {
      return bad(fmt::format("\"{}\" is not known, or has a value that it does not take", key));
    }
  }
  if (job.words.empty() || job.name.empty())
    return bad("the body names no job");
  const auto added = supervisor_.add(std::move(job));
  if (!added)
    return added.error().code.starts_with(codes::of_files)
               ? problem(503, "no room", added.error())
               : problem(409, "conflict", added.error());
  auto response = reply(*added, 201);
  response.headers.emplace_back("Location",
                                "/v1/jobs/" + added->at("name").get_ref<const std::string&>());
  return response;
}

/// /v1/jobs/NAME/looks, /v1/jobs/NAME/look, /v1/jobs/NAME/looks/ID/{document,report}.
HttpResponse Api::looks(const HttpRequest& request, const std::vector<std::string>& path,
                        const std::stop_token& stop) {
  const std::string& name = path[2];
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (path.size() == 4 && path[3] == "looks") {
    if (request.method == "POST")
      return reply(supervisor_.look(name), 202);
    if (!reads)
      return not_allowed("GET, HEAD, POST");
    const auto all = supervisor_.looks(name);
    return all ? reply(json{{"looks", *all}}) : not_found(all.error());
  }
  if (path.size() == 4 && path[3] == "look")
    return request.method == "DELETE" ? reply(supervisor_.cancel(name), 200)
                                      : not_allowed("DELETE");
  if (path.size() != 6 || path[3] != "looks")
    return not_here(request);
  if (!reads)
    return not_allowed("GET, HEAD");
  if (path[5] == "document")
    return document(request, name, path[4]);
  return path[5] == "report" ? shown(request, name, path[4], stop) : not_here(request);
}

HttpResponse Api::document(const HttpRequest& request, const std::string& job,
                           const std::string& id) {
  auto file = supervisor_.document(job, id);
  if (!file)
    return not_found(file.error());
  HttpResponse response{.type = "application/x-ndjson"};
  const auto codings = request.header("accept-encoding");
  const bool is_packed =
      codings.find("gzip") != codings.npos && codings.find("gzip;q=0") == codings.npos;
  const std::string tag = fmt::format("\"{}{}\"", id, is_packed ? "-gz" : ""); // it does not change
  response.headers = {{"ETag", tag}, {"Vary", "Accept-Encoding"}};
  if (request.header("if-none-match") == tag) {
    response.status = 304;
    return response;
  }
  if (is_packed) {
    response.headers.emplace_back("Content-Encoding", "gzip");
    response.file = std::move(*file);
    return response;
  }
  auto text = unpacked_document(std::move(*file), most_unpacked);
  if (!text)
    return not_found(text.error());
  response.body = std::move(*text);
  return response;
}

/// By a process of its own: the document says what the job's memory said.
HttpResponse Api::shown(const HttpRequest& request, const std::string& job, const std::string& id,
                        const std::stop_token& stop) {
  const auto asked = request.parameter("format");
  const Shown* const format = shown_format(asked.empty() ? "html" : asked);
  const bool compares = !request.parameter("before").empty();
  if (format == nullptr || (compares && format->format == "tsv"))
    return problem(400, "bad request",
                   {"service.request", "there is no such format",
                    "text, json, html, dot; without \"before\" also tsv"});
  auto file = supervisor_.document(job, id);
  if (!file)
    return not_found(file.error());
  std::optional<FileDescriptor> before;
  if (compares) {
    auto opened = supervisor_.document(job, std::string(request.parameter("before")));
    if (!opened)
      return not_found(opened.error());
    before = std::move(*opened);
  }
  const auto directory = TemporaryDirectory::make();
  if (!directory)
    return problem(503, "no room", directory.error());
  const auto made = directory->path() / "report";
  const std::string name(format->format);
  if (auto written = write_shown(program_, std::move(*file), std::move(before), name, made, stop);
      !written)
    return problem(500, "no report", written.error());
  FileDescriptor report(::open(made.c_str(), O_RDONLY | O_CLOEXEC));
  if (!report)
    return problem(500, "no report", {"service.report", "nothing was written", "try again"});
  HttpResponse response{.type = format->type, .file = std::move(report)};
  if (name ==
      "html") // its own policy stands in the page, and allows its own script; it is no page of ours
    response.headers.emplace_back(
        "Content-Security-Policy",
        "frame-ancestors 'none'; sandbox allow-scripts allow-downloads allow-modals");
  return response;
}

/// The MPI jobs of this host that may be added.
HttpResponse Api::found(const std::stop_token& stop) const {
  constexpr int some_left_out = 1; // docs/reference/cli.md; so below
  constexpr int nothing = 3;
  constexpr std::size_t most = std::size_t{4} << 20;
  const auto directory = TemporaryDirectory::make();
  if (!directory)
    return problem(503, "no room", directory.error());
  const std::string path = directory->path() / "ranks.json";
  const auto run =
      run_command({program_, "ranks", "--format", "json", "-o", path}, 30s, most, stop);
  if (!run)
    return problem(503, "not now", run.error());
  const auto text = read_text_file(path, most);
  json ranks = text ? json::parse(*text, nullptr, false) : json();
  const bool is_one = ranks.is_object() && ranks.contains("jobs") &&
                      (run->exit_status <= some_left_out || run->exit_status == nothing);
  return is_one ? reply(ranks)
                : problem(503, "not now", {"service.found", run->text, "mqbridge ranks"});
}

HttpResponse Api::events() const {
  return {
      .type = "text/event-stream", .headers = {{"Cache-Control", "no-store"}}, .stream = [this] {
        return fmt::format("event: jobs\ndata: {}\n\n", printed(supervisor_.jobs()));
      }};
}

} // namespace mqbridge
