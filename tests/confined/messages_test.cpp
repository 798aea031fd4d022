// What comes over a socket from a process that is not trusted, and when that is the end.

#include "host/confined/messages.h"

#include <array>
#include <gtest/gtest.h>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>

namespace mqbridge::wire {
namespace {

using Outcome = Received::Outcome;

class Messages : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets_.data()), 0);
  }
  void TearDown() override {
    ::close(sockets_[0]);
    close_theirs();
  }

  int ours() const { return sockets_[0]; }
  void say(std::string_view text) { ::send(sockets_[1], text.data(), text.size(), 0); }
  void close_theirs() {
    ::close(sockets_[1]);
    sockets_[1] = -1;
  }

  Outcome next() {
    const auto received = receive_message(ours(), buffer_, false);
    words = {reinterpret_cast<const char*>(received.message.data()), received.message.size()};
    return received.outcome;
  }

  std::string_view words; ///< of the last message

private:
  std::array<int, 2> sockets_{-1, -1};
  std::array<std::byte, 16> buffer_{};
};

TEST_F(Messages, ComeOneByOneAndThenTheEnd) {
  EXPECT_EQ(next(), Outcome::nothing);
  say("one");
  say("two");
  close_theirs();
  EXPECT_EQ(next(), Outcome::message);
  EXPECT_EQ(words, "one");
  EXPECT_EQ(next(), Outcome::message);
  EXPECT_EQ(words, "two");
  EXPECT_EQ(next(), Outcome::closed);
}

TEST_F(Messages, OneThatDoesNotFitIsSaid) {
  say("longer than the buffer is");
  say("short");
  EXPECT_EQ(next(), Outcome::too_long);
  EXPECT_EQ(next(), Outcome::message);
  EXPECT_EQ(words, "short");
}

TEST_F(Messages, AnEmptyOneIsNoEnd) {
  say("");
  EXPECT_EQ(next(), Outcome::message);
  EXPECT_EQ(words, "");
  EXPECT_EQ(next(), Outcome::nothing);
  say("");
  say("more");
  close_theirs();
  EXPECT_EQ(next(), Outcome::message);
  EXPECT_EQ(words, "");
  EXPECT_EQ(next(), Outcome::message);
  EXPECT_EQ(words, "more");
  EXPECT_EQ(next(), Outcome::closed);
}

TEST_F(Messages, LastWordsOfWhoeverGoesWithAReplyUnreadAreHeard) {
  const std::array reply = {std::byte{1}};
  ASSERT_TRUE(send_message(ours(), reply, false));
  say("done");
  close_theirs(); // from here on the first receive fails with ECONNRESET
  EXPECT_EQ(next(), Outcome::message);
  EXPECT_EQ(words, "done");
  EXPECT_EQ(next(), Outcome::closed);
}

} // namespace
} // namespace mqbridge::wire
