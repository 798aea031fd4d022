#include "rsp/server/debugger.h"
#include "rsp/server/listener.h"
#include "tests/support/eventually.h"
#include "tests/support/temp_directory.h"

#include <array>
#include <atomic>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace mqbridge::rsp {
namespace {

using namespace std::chrono_literals;
using Came = Debugger::Input::Kind;

/// The other end of a Debugger.
class DebuggerTest : public testing::Test {
protected:
  void SetUp() override {
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    own_ = UniqueFd(ends[0]);
    debugger_.emplace(UniqueFd(ends[1]), [this] { ++calls_; });
  }

  void say(std::string_view bytes) const {
    ASSERT_EQ(::write(own_.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  /// What comes until it is so much.
  std::string hear(std::size_t size) const {
    std::string heard;
    std::array<char, 4096> buffer{};
    while (heard.size() < size) {
      const auto count = ::read(own_.get(), buffer.data(), buffer.size());
      if (count <= 0)
        break;
      heard.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return heard;
  }

  /// The next input, once it is there.
  Debugger::Input next() {
    EXPECT_TRUE(test::eventually(5s, [&] { return debugger_->has_input(); }));
    return debugger_->take().value_or(Debugger::Input{});
  }

  UniqueFd own_;
  std::atomic<int> calls_ = 0;
  std::optional<Debugger> debugger_;
};

/// gdb takes a connection for broken on which it cannot send it.
TEST_F(DebuggerTest, TheLastReplyIsAcknowledgedBeforeTheConnectionEnds) {
  debugger_->reply("OK");
  std::jthread ending([this] { debugger_.reset(); });
  EXPECT_EQ(hear(6), "$OK#9a");
  std::this_thread::sleep_for(20ms);
  say("+");
  EXPECT_EQ(hear(1), "") << "the end";
}

TEST_F(DebuggerTest, PacketsAreAcknowledgedUntilThatEnds) {
  say("+$qC#b4");
  EXPECT_EQ(hear(1), "+");
  EXPECT_EQ(next().payload, "qC");
  say("$QStartNoAckMode#b0$qC#b4");
  EXPECT_EQ(hear(1), "+");
  EXPECT_EQ(next().payload, "QStartNoAckMode");
  debugger_->reply("OK");
  EXPECT_EQ(hear(6), "$OK#9a");
  EXPECT_EQ(next().payload, "qC");
  debugger_->reply("QC1");
  EXPECT_EQ(hear(7), "$QC1#c5");
  EXPECT_TRUE(test::eventually(5s, [&] { return calls_ >= 2; }));
}

TEST_F(DebuggerTest, WhatIsDamagedIsAskedForAgainAndWhatIsRefusedComesAgain) {
  say("$qC#00");
  EXPECT_EQ(hear(1), "-");
  say("$qC#b4");
  EXPECT_EQ(hear(1), "+");
  EXPECT_EQ(next().payload, "qC");
  debugger_->reply("QC1");
  EXPECT_EQ(hear(7), "$QC1#c5");
  say("-");
  EXPECT_EQ(hear(7), "$QC1#c5");
}

TEST_F(DebuggerTest, BytesInPacketsPassAsTheyAre) {
  const std::string all = "X10,5:#$}*\x03";
  say(encode(all));
  EXPECT_EQ(hear(1), "+");
  EXPECT_EQ(next().payload, all);
  debugger_->reply(all);
  EXPECT_EQ(hear(encode(all).size()), encode(all));
}

TEST_F(DebuggerTest, AnInterruptIsTakenBeforeWhatCameEarlier) {
  say("$vCont;c#a8\x03");
  ASSERT_TRUE(test::eventually(5s, [&] { return debugger_->has_input(); }));
  EXPECT_TRUE(debugger_->take_interrupt());
  EXPECT_FALSE(debugger_->take_interrupt());
  EXPECT_EQ(next().payload, "vCont;c");
}

TEST_F(DebuggerTest, WhoSendsWithoutEndIsLeft) {
  const std::string long_one = encode(std::string(100'000, 'x'));
  for (int i = 0; i < 200; ++i)
    if (::send(own_.get(), long_one.data(), long_one.size(), MSG_NOSIGNAL) < 0)
      break;
  EXPECT_TRUE(test::eventually(5s, [&] { return debugger_->is_closed(); }));
}

TEST_F(DebuggerTest, ItsEndIsTold) {
  say("$qC#b4");
  own_ = UniqueFd();
  EXPECT_EQ(next().kind, Came::packet);
  EXPECT_EQ(next().kind, Came::closed);
  EXPECT_EQ(next().kind, Came::closed);
  debugger_->reply("OK"); // to nobody
}

TEST(Listener, AUnixSocketIsItsUsersAlone) {
  const test::TempDirectory directory;
  const auto path = directory / "door";
  {
    auto listener = Listener::open(*parse_listen("unix:" + path.string()));
    ASSERT_TRUE(listener) << listener.error().message;
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600U);
    EXPECT_EQ(Listener::open(*parse_listen("unix:" + path.string())).error().code, "listen.failed");
  }
  EXPECT_NE(::access(path.c_str(), F_OK), 0);
}

TEST(Listener, OneThatWasLeftOverIsTaken) {
  const test::TempDirectory directory;
  const auto path = (directory / "door").string();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(static_cast<char*>(address.sun_path), sizeof(address.sun_path) - 1);
  {
    const UniqueFd left(::socket(AF_UNIX, SOCK_STREAM, 0));
    ASSERT_EQ(::bind(left.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  }
  EXPECT_TRUE(Listener::open(*parse_listen("unix:" + path)));
}

TEST(Listener, OnlyThisHostIsLetIn) {
  for (const char* elsewhere : {"0.0.0.0:0", "192.0.2.1:7001", "node7:7001"}) {
    const auto endpoint = parse_listen(elsewhere);
    ASSERT_TRUE(endpoint) << elsewhere;
    EXPECT_EQ(Listener::open(*endpoint).error().code, "listen.address") << elsewhere;
  }
  const auto listener = Listener::open(*parse_listen("127.0.0.1:0"));
  ASSERT_TRUE(listener);
  EXPECT_NE(listener->address(), "127.0.0.1:0");
}

TEST(Listener, WaitsUntilItIsStopped) {
  auto listener = Listener::open(*parse_listen("127.0.0.1:0"));
  ASSERT_TRUE(listener);
  std::stop_source stop;
  const std::jthread stopping([&] {
    std::this_thread::sleep_for(20ms);
    stop.request_stop();
  });
  EXPECT_EQ(listener->accept(stop.get_token()).error().code, "interrupted");
}

} // namespace
} // namespace mqbridge::rsp
