#include "tests/support/connected.h"
#include "tests/support/scripted_stub.h"

#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace mqbridge::test {
namespace {

using testing::Contains;
using testing::ElementsAre;

/// Sends raw bytes to a stub on a Unix socket and returns what comes back within a moment.
std::string exchange(const ScriptedStub& stub, std::string_view bytes) {
  const int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::get<rsp::UnixEndpoint>(stub.endpoint().where)
      .path.copy(address.sun_path, sizeof address.sun_path - 1);
  EXPECT_EQ(connect(client, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(send(client, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  shutdown(client, SHUT_WR);
  std::string answer;
  std::array<char, 1024> piece;
  for (ssize_t count = 0; (count = recv(client, piece.data(), piece.size(), 0)) > 0;)
    answer.append(piece.data(), static_cast<std::size_t>(count));
  close(client);
  return answer;
}

TEST(ScriptedStub, AnswersAsTold) {
  struct Case {
    Answer answer;
    std::string wire;
  };
  const std::array cases{
      Case{Answer::packet("OK"), "$OK#9a"},
      Case{Answer::packet("a*}#$"), "$a}\x0a}]}\x03}\x04#c3"},
      Case{Answer::packet("OK").split(), "$OK#9a"},
      Case{Answer::packet("OK").repeated(2), "$OK#9a$OK#9a"},
      Case{Answer::packet("OK").behind("%Stop:#66"), "%Stop:#66$OK#9a"},
      Case{Answer::cut("OK", 3), "$OK"},
      Case{Answer::raw("\xff"), "\xff"},
      Case{Answer::nothing(), ""},
      Case{Answer::close(), ""},
  };
  for (const auto& [answer, wire] : cases) {
    ScriptedStub stub({.unix_socket = true});
    stub.expect("?", answer);
    EXPECT_EQ(exchange(stub, "$?#3f"), "+" + wire);
    EXPECT_THAT(stub.received(), ElementsAre("?"));
  }
}

TEST(ScriptedStub, AsksForABrokenPacketAgain) {
  ScriptedStub stub({.unix_socket = true});
  EXPECT_EQ(exchange(stub, "$?#00"), "-");
  EXPECT_THAT(stub.received(), ElementsAre());
}

TEST(ScriptedStub, FailsTheTestThatWrites) {
  EXPECT_NONFATAL_FAILURE(
      {
        ScriptedStub stub({.unix_socket = true});
        exchange(stub, "$k#6b");
      },
      "a packet that changes the target: k");
}

TEST(ScriptedStub, FailsTheTestThatLeavesItsScript) {
  EXPECT_NONFATAL_FAILURE(
      {
        ScriptedStub stub;
        stub.expect("?", Answer::packet("S05"));
      },
      "still expects ?");
}

} // namespace
} // namespace mqbridge::test
