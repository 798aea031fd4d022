// What both sides of a joint call it by: the parts of the preloaded recorder that know no MPI.

#include "dll/recorder/layout.h"

extern "C" {
#include "dll/recorder/mpi/sides.h"
#include "dll/recorder/mpi/socket_mark.h"
}

#include <array>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <optional>
#include <set>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

namespace mqbridge {
namespace {

std::optional<std::uint64_t> number_of(mqr_side side, std::uint32_t local, std::uint32_t remote) {
  std::uint64_t number = 0;
  return mqr_number_of_firsts(side, {local, remote}, &number) != 0 ? std::optional(number)
                                                                   : std::nullopt;
}

TEST(PartsOfASplit, HaveTheSameNumberOnBothSides) {
  std::set<std::uint64_t> numbers;
  for (std::uint32_t first = 0; first < 4; ++first)
    for (std::uint32_t second = 0; second < 4; ++second) {
      const auto number = number_of(MQR_FIRST_SIDE, first, second);
      ASSERT_TRUE(number);
      EXPECT_EQ(number_of(MQR_SECOND_SIDE, second, first), number);
      EXPECT_TRUE(numbers.insert(*number).second) << first << " " << second;
    }
}

// (0, 1) of the one side is (1, 0) of the other, which has another part (0, 1).
TEST(PartsOfASplit, HaveNoNumberWhereItWouldBeThatOfTwo) {
  EXPECT_EQ(number_of(MQR_EITHER_SIDE, 0, 1), std::nullopt);
  EXPECT_EQ(number_of(MQR_EITHER_SIDE, 1, 0), std::nullopt);
  EXPECT_TRUE(number_of(MQR_EITHER_SIDE, 0, 0));
  EXPECT_NE(number_of(MQR_EITHER_SIDE, 1, 1), number_of(MQR_EITHER_SIDE, 0, 0));
}

/// A connection within this computer, whose ends may be of different versions of IP.
class Connection {
public:
  Connection(int listening_family, int connecting_family) {
    const int listening = ::socket(listening_family, SOCK_STREAM, 0);
    const int off = 0;
    if (listening_family == AF_INET6)
      ::setsockopt(listening, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    sockaddr_storage address = {};
    address.ss_family = static_cast<sa_family_t>(listening_family); // any address, any port
    socklen_t length = sizeof address;
    if (::bind(listening, reinterpret_cast<sockaddr*>(&address), size_of(listening_family)) != 0 ||
        ::listen(listening, 1) != 0 ||
        ::getsockname(listening, reinterpret_cast<sockaddr*>(&address), &length) != 0)
      return;
    sockaddr_storage to = {};
    if (connecting_family == AF_INET6) {
      auto& six = reinterpret_cast<sockaddr_in6&>(to);
      six.sin6_family = AF_INET6;
      six.sin6_port = reinterpret_cast<sockaddr_in6&>(address).sin6_port;
      six.sin6_addr = in6addr_loopback;
    } else {
      auto& four = reinterpret_cast<sockaddr_in&>(to);
      four.sin_family = AF_INET;
      four.sin_port = listening_family == AF_INET6
                          ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                          : reinterpret_cast<sockaddr_in&>(address).sin_port;
      four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    }
    ends[0] = ::socket(connecting_family, SOCK_STREAM, 0);
    if (::connect(ends[0], reinterpret_cast<sockaddr*>(&to), size_of(connecting_family)) == 0)
      ends[1] = ::accept(listening, nullptr, nullptr);
    ::close(listening);
  }
  ~Connection() {
    for (const int end : ends)
      ::close(end);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  std::string mark(std::size_t end) const {
    char text[MQR_MARK_SIZE] = "?";
    mqr_mark_socket(ends[end], text);
    return text;
  }

  std::array<int, 2> ends = {-1, -1};

private:
  static socklen_t size_of(int family) {
    return family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  }
};

TEST(MarksOfSockets, AreTheSameAtBothEnds) {
  for (const auto& [listening, connecting] :
       {std::pair(AF_INET, AF_INET), std::pair(AF_INET6, AF_INET), std::pair(AF_INET6, AF_INET6)}) {
    const Connection connection(listening, connecting);
    if (connection.ends[1] < 0 && listening == AF_INET6)
      GTEST_SKIP() << "this computer has no IPv6";
    ASSERT_GE(connection.ends[1], 0);
    EXPECT_EQ(connection.mark(0), connection.mark(1));
    const std::string address = connecting == AF_INET6 ? "::1:" : "127.0.0.1:";
    EXPECT_TRUE(connection.mark(0).starts_with(address)) << connection.mark(0);
  }
}

TEST(MarksOfSockets, AreEmptyWithoutAddresses) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  char mark[MQR_MARK_SIZE] = "?";
  mqr_mark_socket(ends[0], mark);
  EXPECT_STREQ(mark, "");
  for (const int end : ends)
    ::close(end);
}

} // namespace
} // namespace mqbridge
