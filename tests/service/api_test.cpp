// What is answered, and to whom.

#include "host/service/api.h"
#include "host/service/page.h"
#include "tests/document/json_schema.h"
#include "tests/service/played_program.h"
#include "tests/support/eventually.h"

#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::HasSubstr;

class ApiTest : public testing::Test {
protected:
  ApiTest() {
    program_.play(test::prints_look(test::deadlock));
    ServiceJob weather{.name = "weather", .words = {"--mpirun=1"}, .is_configured = true};
    supervisor_.emplace(
        program_.path(), ServiceConfig{.jobs = {weather}},
        LookStore::open(directory_ / "looks").value(), [](const json&) {}, [](const LogLine&) {});
    visitors_.set_address("127.0.0.1:4000");
    api_.emplace(*supervisor_, visitors_, program_.path());
  }

  /// As a tool of this user asks.
  HttpResponse ask(const std::string& method, const std::string& path, const std::string& body = "",
                   const std::map<std::string, std::string>& headers = {}) {
    HttpRequest request{.method = method, .path = path, .body = body, .is_of_unix_socket = true};
    request.headers = headers;
    return api_->answer(request, {});
  }
  /// As a browser does.
  HttpResponse browse(const std::string& method, const std::string& path,
                      const std::map<std::string, std::string>& headers,
                      const std::string& key = "") {
    HttpRequest request{.method = method, .path = visitors_.path() + path, .query = {{"key", key}}};
    request.headers = headers;
    return api_->answer(request, {});
  }
  std::string cookie() {
    const std::string link = visitors_.invite();
    const auto entered =
        browse("GET", "/enter", {{"host", "localhost:1"}}, link.substr(link.find("key=") + 4));
    for (const auto& [name, value] : entered.headers)
      if (name == "Set-Cookie")
        return value.substr(0, value.find(';'));
    return "";
  }
  std::string look() {
    ask("POST", "/v1/jobs/weather/looks");
    EXPECT_TRUE(test::eventually(20s, [&] {
      return supervisor_->job("weather")->at("looks") > 0 &&
             supervisor_->job("weather")->at("state") == "idle";
    }));
    return supervisor_->job("weather")->at("last_look").at("id");
  }
  /// Whether the body is as the description of the interface says.
  void expect_described(const HttpResponse& response, const std::string& path,
                        const std::string& method) {
    const json all = json::parse(page::openapi);
    const std::string status = std::to_string(response.status);
    ASSERT_TRUE(all["paths"].contains(path)) << path;
    ASSERT_TRUE(all["paths"][path].contains(method)) << path << " " << method;
    ASSERT_TRUE(all["paths"][path][method]["responses"].contains(status))
        << path << " " << method << " " << status;
    json answer = all["paths"][path][method]["responses"][status];
    if (answer.contains("$ref"))
      answer = all.at(json::json_pointer(answer["$ref"].get<std::string>().substr(1)));
    if (response.body.empty())
      return;
    ASSERT_TRUE(answer["content"].contains(response.type)) << path << " " << response.type;
    json schema = answer["content"][response.type].value("schema", json::object());
    schema["components"] = all["components"];
    if (response.type == "application/json" || response.type == "application/problem+json") {
      EXPECT_EQ(test::JsonSchema(schema).complaint(json::parse(response.body)), "")
          << path << " " << method << " " << response.body;
    }
  }

  test::TempDirectory directory_;
  test::PlayedProgram program_;
  Visitors visitors_{directory_ / "browsers.json"};
  std::optional<Supervisor> supervisor_;
  std::optional<Api> api_;
};

TEST_F(ApiTest, AnswersAreAsTheyAreDescribed) {
  const std::string id = look();
  const std::string at = "/v1/jobs/weather/looks/" + id;
  const std::string number = R"({"mpirun": 4711, "name": "other"})";
  expect_described(ask("GET", "/v1/jobs"), "/v1/jobs", "get");
  expect_described(ask("POST", "/v1/jobs", number), "/v1/jobs", "post");
  expect_described(ask("POST", "/v1/jobs", number), "/v1/jobs", "post"); // 409
  expect_described(ask("POST", "/v1/jobs", "{"), "/v1/jobs", "post");
  expect_described(ask("GET", "/v1/jobs/other"), "/v1/jobs/{name}", "get");
  expect_described(ask("DELETE", "/v1/jobs/weather"), "/v1/jobs/{name}", "delete");
  expect_described(ask("DELETE", "/v1/jobs/other"), "/v1/jobs/{name}", "delete");
  expect_described(ask("GET", "/v1/jobs/other"), "/v1/jobs/{name}", "get");
  expect_described(ask("GET", "/v1/jobs/weather/looks"), "/v1/jobs/{name}/looks", "get");
  expect_described(ask("POST", "/v1/jobs/none/looks"), "/v1/jobs/{name}/looks", "post");
  expect_described(ask("POST", "/v1/jobs/weather/looks"), "/v1/jobs/{name}/looks", "post");
  expect_described(ask("DELETE", "/v1/jobs/weather/look"), "/v1/jobs/{name}/look", "delete");
  expect_described(ask("GET", at + "/document"), "/v1/jobs/{name}/looks/{id}/document", "get");
  expect_described(ask("GET", at + "x/document"), "/v1/jobs/{name}/looks/{id}/document", "get");
  expect_described(ask("GET", at + "x/report"), "/v1/jobs/{name}/looks/{id}/report", "get");
  expect_described(ask("POST", "/v1/links"), "/v1/links", "post");
  expect_described(ask("GET", "/metrics"), "/metrics", "get");
}

TEST_F(ApiTest, ADocumentIsHandedOutAsItIsKeptOrUnpacked) {
  const std::string path = "/v1/jobs/weather/looks/" + look() + "/document";
  const auto plain = ask("GET", path);
  EXPECT_EQ(plain.status, 200);
  EXPECT_THAT(plain.body, HasSubstr(test::rank_line(1, 101)));
  const auto packed = ask("GET", path, "", {{"accept-encoding", "br, gzip"}});
  EXPECT_TRUE(packed.file);
  EXPECT_THAT(packed.headers, testing::Contains(testing::Pair("Content-Encoding", "gzip")));
  std::string tag;
  for (const auto& [name, value] : plain.headers)
    tag = name == "ETag" ? value : tag;
  EXPECT_EQ(ask("GET", path, "", {{"if-none-match", tag}}).status, 304);
}

TEST_F(ApiTest, WhatIsNotThereIsSaid) {
  for (const auto& [method, path, status] :
       {std::tuple{"GET", "/x", 404},
        {"GET", "/v1", 404},
        {"GET", "/v1/", 404},
        {"GET", "/v1/jobs/", 404},
        {"GET", "/v1/jobs/none", 404},
        {"GET", "/v1/jobs/..", 404},
        {"GET", "/v1/jobs/weather/looks/../../x/document", 404},
        {"GET", "/v1/jobs/weather/looks/x/y", 404},
        {"GET", "/v1/jobs/weather/x", 404},
        {"GET", "/v1/jobs/weather/look", 405},
        {"PUT", "/v1/jobs", 405},
        {"POST", "/", 404},
        {"PATCH", "/v1/jobs/weather", 405},
        {"GET", "/v1/links", 405},
        {"GET", "", 404},
        {"GET", "//", 404},
        {"POST", "/v1/events", 405}}) {
    const auto response = ask(method, path);
    EXPECT_EQ(response.status, status) << method << " " << path;
    EXPECT_EQ(response.type, "application/problem+json") << path;
  }
}

TEST_F(ApiTest, AClientNamesNumbersAlone) {
  for (const char* body :
       {"", "[]", "{}", R"({"name":"x"})", R"({"mpirun":"4711"})", R"({"mpirun":-1})",
        R"({"mpirun":1.5})", R"({"mpirun":1,"slurm":2})", R"({"mpirun":1,"name":"../x"})",
        R"({"mpirun":1,"name":"-x"})", R"({"mpirun":1,"name":7})", R"({"mpirun":1,"dll":"/x"})",
        R"({"targets":"/etc/passwd"})", R"({"mpirun":{"a":1}})", R"({"mpirun":1e3})",
        R"({"mpirun":99999999999999999999})"}) {
    EXPECT_EQ(ask("POST", "/v1/jobs", body).status, 400) << body;
    EXPECT_EQ(supervisor_->jobs().size(), 1U) << body;
  }
  EXPECT_EQ(ask("POST", "/v1/jobs", R"({"slurm":12})").status, 201);
  EXPECT_EQ(supervisor_->job("slurm-12")->at("options"), json::array({"--slurm=12"}));
}

TEST_F(ApiTest, ABrowserComesInByALinkOnce) {
  const std::map<std::string, std::string> host = {{"host", "localhost:1"}};
  for (const char* path : {"/", "/v1/jobs", "/service.js", "/metrics", "/v1/openapi.json"})
    EXPECT_EQ(browse("GET", path, host).status, 401) << path;
  EXPECT_EQ(browse("GET", "/enter", host, std::string(64, '0')).status, 401);
  EXPECT_FALSE(api_->is_slow({.path = "/v1/jobs/weather/looks/x/report"}))
      << "strangers wait alone";
  const std::string ours = cookie();
  ASSERT_NE(ours, "");
  const auto page = browse("GET", "/", {{"host", "localhost:1"}, {"cookie", ours}});
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.headers, testing::Contains(testing::Pair("Content-Security-Policy",
                                                            HasSubstr("script-src 'self'"))));
  EXPECT_EQ(browse("POST", "/v1/links",
                   {{"host", "localhost:1"}, {"origin", "http://localhost:1"}, {"cookie", ours}})
                .status,
            404)
      << "a browser lets nobody else in";
}

TEST_F(ApiTest, OtherSitesAndNamesAreRefused) {
  const std::string ours = cookie();
  for (const char* host : {"evil.com", "evil.com:1", "localhost.evil.com", "127.0.0.1.evil.com",
                           "localhost:1, evil.com", "", "[::2]:1", "127.0.0.2"})
    EXPECT_EQ(browse("GET", "/", {{"host", host}, {"cookie", ours}}).status, 403) << host;
  for (const char* host : {"127.0.0.1:1", "localhost:8080", "[::1]:1", "localhost"})
    EXPECT_EQ(browse("GET", "/", {{"host", host}, {"cookie", ours}}).status, 200) << host;
  for (const char* origin : {"http://evil.com", "null", "https://localhost:1", "http://localhost:2",
                             "http://localhost:1.evil.com"})
    for (const char* method : {"GET", "POST"})
      EXPECT_EQ(browse(method, "/v1/jobs/weather/looks",
                       {{"host", "localhost:1"}, {"cookie", ours}, {"origin", origin}})
                    .status,
                403)
          << origin;
  EXPECT_EQ(
      browse("POST", "/v1/jobs/weather/looks", {{"host", "localhost:1"}, {"cookie", ours}}).status,
      403)
      << "a change says whence it comes";
  EXPECT_EQ(browse("POST", "/v1/jobs/weather/looks",
                   {{"host", "localhost:1"}, {"cookie", ours}, {"origin", "http://localhost:1"}})
                .status,
            202);
}

TEST_F(ApiTest, MetricsAreThoseOfEachJob) {
  look();
  EXPECT_THAT(ask("GET", "/metrics").body, HasSubstr("mqbridge_stuck{job=\"weather\"} 1\n"));
}

} // namespace
} // namespace mqbridge
