#include "rsp/transport/endpoint.h"

#include <gmock/gmock.h>
#include <optional>
#include <string>
#include <string_view>

namespace mqbridge::rsp {
namespace {

using testing::HasSubstr;

template <class Where>
void expect_parses(std::string_view text, const Where& where,
                   std::optional<std::int64_t> pid = std::nullopt) {
  const auto endpoint = Endpoint::parse(text);
  ASSERT_TRUE(endpoint) << text << ": " << endpoint.error().message;
  EXPECT_EQ(endpoint->text, text);
  ASSERT_TRUE(std::holds_alternative<Where>(endpoint->where)) << text;
  EXPECT_TRUE(std::get<Where>(endpoint->where) == where) << text;
  EXPECT_EQ(endpoint->pid, pid) << text;
}

TEST(Endpoint, Tcp) {
  expect_parses("n017:7001", TcpEndpoint{"n017", "7001"});
  expect_parses("127.0.0.1:1", TcpEndpoint{"127.0.0.1", "1"});
  expect_parses("n017:65535@41822", TcpEndpoint{"n017", "65535"}, 41822);
  expect_parses("[::1]:7001", TcpEndpoint{"::1", "7001"});
  expect_parses("[fe80::1%eth0]:7001@5", TcpEndpoint{"fe80::1%eth0", "7001"}, 5);
}

TEST(Endpoint, UnixSocket) {
  expect_parses("unix:/run/stub", UnixEndpoint{"/run/stub"});
  expect_parses("unix:/run/with space:1@7", UnixEndpoint{"/run/with space:1"}, 7);
  expect_parses("unix:" + std::string(107, 'p'), UnixEndpoint{std::string(107, 'p')});
}

TEST(Endpoint, CommandsAreVerbatim) {
  expect_parses("exec:ssh n1 'gdbserver - 7@8'",
                CommandEndpoint{{"/bin/sh", "-c", "ssh n1 'gdbserver - 7@8'"}});
}

TEST(Endpoint, SameServerWhicheverProcess) {
  const auto one = Endpoint::parse("n1:7001@1");
  const auto two = Endpoint::parse("n1:7001@2");
  const auto other = Endpoint::parse("n1:7002@1");
  ASSERT_TRUE(one && two && other);
  EXPECT_TRUE(one->same_server(*two));
  EXPECT_FALSE(one->same_server(*other));
}

struct Wrong {
  std::string text;
  const char* why;
};

const Wrong wrong[] = {
    {"", "empty"},
    {"n017", "port is missing"},
    {":7001", "host is missing"},
    {"n017:", "port is no number"},
    {"n017:0", "port is no number"},
    {"n017:65536", "port is no number"},
    {"n017:99999999999999999999", "port is no number"},
    {"n017:gdb", "port is no number"},
    {"n017:70 01", "port is no number"},
    {"n017:-1", "port is no number"},
    {"n 17:7001", "no host"},
    {"http://n017:7001", "brackets"},
    {"::1:7001", "brackets"},
    {"[::1]7001", "brackets"},
    {"[]:7001", "no host"},
    {"[::1:7001", "brackets"},
    {"n017:7001@", "no process id"},
    {"n017:7001@0", "no process id"},
    {"n017:7001@-4", "no process id"},
    {"n017:7001@12x", "no process id"},
    {"n017:7001@99999999999", "no process id"},
    {"@5", "port is missing"},
    {"unix:", "path of the socket is missing"},
    {"unix:@5", "path of the socket is missing"},
    {"unix:" + std::string(108, 'p'), "107 bytes"},
    {std::string("unix:a\0b", 8), "zero byte"},
    {"exec:", "command is missing"},
    {std::string("exec:a\0b", 8), "zero byte"},
    {"serial:", "device is missing"},
    {"serial::9600", "device is missing"},
    {std::string("serial:a\0b", 10), "zero byte"},
    {"serial:/dev/ttyS0:0", "from 50 to"},
    {"serial:/dev/ttyS0:", "from 50 to"},
    {"serial:/dev/ttyS0:99999999999", "from 50 to"},
    {"ssh:n017:41822", "stands in brackets"},
};

TEST(Endpoint, AProcessIdAloneIsGuessed) {
  const auto endpoint = Endpoint::parse("20990");
  ASSERT_FALSE(endpoint);
  EXPECT_THAT(endpoint.error().message, HasSubstr("a process id alone"));
  EXPECT_THAT(endpoint.error().hint, testing::StartsWith("did you mean local:20990? "));
}

TEST(Endpoint, SaysWhatIsWrongAndShowsTheForms) {
  for (const auto& [text, why] : wrong) {
    const auto endpoint = Endpoint::parse(text);
    ASSERT_FALSE(endpoint) << text;
    EXPECT_EQ(endpoint.error().code, "endpoint.syntax") << text;
    EXPECT_THAT(endpoint.error().message, HasSubstr(why)) << text;
    EXPECT_THAT(endpoint.error().hint, HasSubstr("HOST:PORT[@PID]")) << text;
  }
}

} // namespace
} // namespace mqbridge::rsp
