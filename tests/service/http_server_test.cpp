// The server, and clients that send what they like.

#include "host/service/http_server.h"
#include "rsp/unique_fd.h"
#include "tests/support/eventually.h"
#include "tests/support/temp_directory.h"

#include <array>
#include <atomic>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

namespace mqbridge {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

/// Says what it was asked.
class Echo final : public HttpHandler {
public:
  HttpResponse answer(const HttpRequest& request, const std::stop_token&) override {
    ++asked;
    if (request.path == "/stream")
      return {.type = "text/event-stream", .stream = [] { return std::string("first\n"); }};
    if (request.path == "/slow")
      std::this_thread::sleep_for(300ms);
    return {.type = "text/plain",
            .body = fmt::format("{} {} q={} b={} unix={}", request.method, request.path,
                                request.parameter("q"), request.body.size(),
                                request.is_of_unix_socket)};
  }
  bool is_slow(const HttpRequest& request) const override { return request.path == "/slow"; }

  std::atomic<int> asked = 0;
};

class Client {
public:
  explicit Client(rsp::UniqueFd fd) : fd_(std::move(fd)) {
    constexpr timeval patience{20, 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  /// False: the server has closed.
  bool say(std::string_view text) const {
    return ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(text.size());
  }
  /// What comes until it has that text, or until the end.
  std::string hear(std::string_view until = "\n\n\n\n") const {
    std::string heard;
    std::array<char, 4096> buffer{};
    while (heard.find(until) == heard.npos) {
      const auto count = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
      if (count <= 0)
        break;
      heard.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return heard;
  }
  std::string ask(std::string_view text) const {
    say(text);
    return hear();
  }

private:
  rsp::UniqueFd fd_;
};

class HttpServerTest : public testing::Test {
protected:
  void SetUp() override {
    if (microhttpd() == nullptr)
      GTEST_SKIP() << microhttpd_name() << " is not here";
    std::vector<rsp::Listener> listeners;
    for (const std::string& where : {"unix:" + socket_, std::string("127.0.0.1:0")})
      listeners.push_back(rsp::Listener::open(rsp::parse_listen(where).value()).value());
    address_ = listeners.back().address();
    server_ = HttpServer::open(std::move(listeners), echo_).value();
  }
  Client by_port() const {
    rsp::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address_.substr(10))));
    if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
      throw std::runtime_error("nobody listens");
    return Client(std::move(fd));
  }
  Client by_socket() const {
    rsp::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    socket_.copy(static_cast<char*>(to.sun_path), sizeof to.sun_path - 1);
    if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
      throw std::runtime_error("nobody listens");
    return Client(std::move(fd));
  }

  test::TempDirectory directory_;
  std::string socket_ = (directory_ / "socket").string();
  Echo echo_;
  std::string address_;
  std::unique_ptr<HttpServer> server_;
};

constexpr std::string_view close = "Host: localhost\r\nConnection: close\r\n";

std::string get(std::string_view path) {
  return fmt::format("GET {} HTTP/1.1\r\n{}\r\n", path, close);
}

TEST_F(HttpServerTest, RequestsComeWithAllTheyHave) {
  EXPECT_THAT(by_port().ask(get("/a%20b?q=x%26y&p")), HasSubstr("GET /a b q=x&y b=0 unix=false"));
  EXPECT_THAT(by_socket().ask(get("/")), HasSubstr("GET / q= b=0 unix=true"));
  EXPECT_THAT(
      by_port().ask(fmt::format("POST /p HTTP/1.1\r\n{}Content-Length: 3\r\n\r\nabc", close)),
      HasSubstr("POST /p q= b=3"));
  EXPECT_THAT(by_port().ask(fmt::format("POST /p HTTP/1.1\r\n{}Transfer-Encoding: chunked\r\n\r\n"
                                        "2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n",
                                        close)),
              HasSubstr("POST /p q= b=5"));
}

TEST_F(HttpServerTest, OneConnectionHasManyRequests) {
  const Client client = by_port();
  for (int i = 0; i < 3; ++i) {
    client.say(fmt::format("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", i));
    EXPECT_THAT(client.hear("unix=false"), HasSubstr(fmt::format("GET /{} ", i)));
  }
}

/// Whoever reads such a request in another way sees another one behind it.
TEST_F(HttpServerTest, AnEndThatIsNotPlainIsRefusedAndTheConnectionClosed) {
  const std::string hidden = "0\r\n\r\nGET /hidden HTTP/1.1\r\nHost: localhost\r\n\r\n";
  for (const char* headers :
       {"Content-Length: 4\r\nTransfer-Encoding: chunked",
        "Content-Length: 4\r\nContent-Length: 40", "Content-Length: 4\r\nContent-Length: 4",
        "Content-Length: 4, 4", "Content-Length: +4", "Content-Length: -1", "Content-Length: 0x4",
        "Content-Length: 4 4", "Transfer-Encoding: xchunked",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity"}) {
    const std::string heard = by_port().ask(
        fmt::format("POST /p HTTP/1.1\r\nHost: localhost\r\n{}\r\n\r\n{}", headers, hidden));
    EXPECT_THAT(heard, StartsWith("HTTP/1.1 400")) << headers;
    EXPECT_THAT(heard, testing::Not(HasSubstr("hidden"))) << headers;
  }
  EXPECT_EQ(echo_.asked, 0);
  EXPECT_THAT(by_port().ask(get("/")), HasSubstr("GET /"));
}

TEST_F(HttpServerTest, WhatIsTooLongIsRefused) {
  const std::string much(1 << 20, 'x');
  const auto refused = [](const std::string& heard) {
    return heard.empty() || heard.starts_with("HTTP/1.1 4"); // or the connection has ended
  };
  EXPECT_TRUE(refused(by_port().ask("GET /" + much)));
  EXPECT_TRUE(refused(by_port().ask("GET / HTTP/1.1\r\nX: " + much)));
  std::string headers;
  for (int i = 0; i < 100'000; ++i)
    headers += fmt::format("X{}: y\r\n", i);
  EXPECT_TRUE(refused(by_port().ask("GET / HTTP/1.1\r\n" + headers)));
  EXPECT_THAT(
      by_port().ask(fmt::format("POST /p HTTP/1.1\r\n{}Content-Length: 1073741824\r\n\r\n", close)),
      StartsWith("HTTP/1.1 413"));
  EXPECT_TRUE(refused(by_port().ask(fmt::format(
      "POST /p HTTP/1.1\r\n{}Transfer-Encoding: chunked\r\n\r\n100000\r\n{}\r\n", close, much))));
  EXPECT_EQ(echo_.asked, 0);
  EXPECT_THAT(by_port().ask(get("/")), HasSubstr("GET /"));
}

TEST_F(HttpServerTest, ASlowAnswerHoldsNobodyUp) {
  const Client slow = by_port();
  slow.say(get("/slow"));
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_THAT(by_port().ask(get("/quick")), HasSubstr("/quick"));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 250ms);
  EXPECT_THAT(slow.hear(), HasSubstr("/slow"));
}

TEST_F(HttpServerTest, StreamsGetWhatIsPublished) {
  const Client one = by_port();
  const Client other = by_socket();
  for (const Client* client : {&one, &other}) {
    client->say(get("/stream"));
    EXPECT_THAT(client->hear("first\n"), HasSubstr("first\n"));
  }
  for (const char* text : {"second\n", "third\n"}) {
    server_->publish(text);
    EXPECT_THAT(one.hear(text), HasSubstr(text));
    EXPECT_THAT(other.hear(text), HasSubstr(text));
  }
}

TEST_F(HttpServerTest, AClientThatDoesNotReadLosesItsStreamAlone) {
  const Client idle = by_port();
  const Client reads = by_socket();
  for (const Client* client : {&idle, &reads}) {
    client->say(get("/stream"));
    EXPECT_THAT(client->hear("first\n"), HasSubstr("first\n"));
  }
  const std::string piece = std::string(1 << 16, 'x') + "|";
  for (int i = 0; i < 400; ++i) {
    server_->publish(piece);
    ASSERT_THAT(reads.hear("|"), HasSubstr("|")) << i;
  }
  std::size_t got = 0;
  for (std::string heard = idle.hear("|"); !heard.empty(); heard = idle.hear("|"))
    got += heard.size();
  EXPECT_LT(got, piece.size() * 400) << "it was closed before the last piece";
}

TEST_F(HttpServerTest, AConnectionWithoutARequestEnds) {
  const Client silent = by_port();
  const Client half = by_port();
  half.say("GET / HT");
  const Client trickling = by_port();
  std::atomic<bool> gone = false;
  std::jthread trickle([&](const std::stop_token& stop) {
    while (!stop.stop_requested() && trickling.say("G"))
      std::this_thread::sleep_for(200ms);
    gone = true;
  });
  EXPECT_EQ(silent.hear(), "");
  EXPECT_THAT(half.hear(), testing::Not(HasSubstr("200")));
  EXPECT_TRUE(test::eventually(20s, [&] { return gone.load(); }));
  EXPECT_EQ(echo_.asked, 0);
}

TEST_F(HttpServerTest, ItEndsWhileClientsWait) {
  const Client stream = by_port();
  stream.say(get("/stream"));
  EXPECT_THAT(stream.hear("first\n"), HasSubstr("first\n"));
  std::vector<Client> slow;
  for (int i = 0; i < 8; ++i) {
    slow.push_back(by_port());
    slow.back().say(get("/slow"));
  }
  EXPECT_TRUE(test::eventually(5s, [&] { return echo_.asked >= 2; }));
  const Client half = by_port();
  half.say("POST / HTTP/1.1\r\n");
  const auto begun = std::chrono::steady_clock::now();
  server_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 3s);
  stream.hear();
  EXPECT_FALSE(std::filesystem::exists(socket_));
}

} // namespace
} // namespace mqbridge
