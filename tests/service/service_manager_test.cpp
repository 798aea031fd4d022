// What is said to a manager of services, with a socket in the place of its own.

#include "host/service/service_manager.h"
#include "tests/support/environment_variable.h"
#include "tests/support/temp_directory.h"

#include <array>
#include <cstring>
#include <gmock/gmock.h>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

namespace mqbridge {
namespace {

using namespace std::string_literals;

/// Takes datagrams, as systemd does.
class Manager {
public:
  Manager() : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path().c_str(), sizeof address.sun_path - 1);
    if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("bind");
  }
  std::string path() const { return (directory_ / "socket").string(); }
  /// The next one; empty: there is none.
  std::string heard() const {
    std::array<char, 4096> buffer;
    const ssize_t size = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    return {buffer.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
  }

private:
  test::TempDirectory directory_;
  rsp::UniqueFd socket_;
};

TEST(ServiceManager, HearsWhatTheServiceDoes) {
  const Manager manager;
  tell_manager("READY=1"); // nobody is there
  const test::EnvironmentVariable named("NOTIFY_SOCKET", manager.path());
  tell_manager("READY=1");
  EXPECT_EQ(manager.heard(), "READY=1");
  EXPECT_EQ(manager.heard(), "");
}

TEST(ServiceManager, HearsSinceWhenTheConfigurationIsRead) {
  const auto now = [] {
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1'000'000 + time.tv_nsec / 1000;
  };
  const auto before = now();
  const std::string said = reloading();
  constexpr std::string_view begin = "RELOADING=1\nMONOTONIC_USEC=";
  ASSERT_EQ(said.substr(0, begin.size()), begin);
  const auto then = std::stoll(said.substr(begin.size()));
  EXPECT_GE(then, before);
  EXPECT_LE(then, now());
}

std::string stream_of_stderr() {
  struct stat status {};
  ::fstat(STDERR_FILENO, &status);
  return std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
}

TEST(ServiceManager, TheJournalHasAFieldForEachPartOfALine) {
  const Manager journal;
  const test::EnvironmentVariable named("JOURNAL_STREAM", stream_of_stderr());
  EXPECT_TRUE(tell_journal({"it is read again"}, journal.path()));
  EXPECT_EQ(journal.heard(), "MESSAGE=it is read again\nPRIORITY=6\n");
  EXPECT_TRUE(tell_journal({"it has\nfailed", "service.command", "weather", "20261130T095821.333Z"},
                           journal.path()));
  EXPECT_EQ(journal.heard(), "MESSAGE\n\x0d\0\0\0\0\0\0\0it has\nfailed\nPRIORITY=3\n"s
                             "MQBRIDGE_CODE=service.command\nMQBRIDGE_JOB=weather\n"
                             "MQBRIDGE_LOOK=20261130T095821.333Z\n");
}

TEST(ServiceManager, OfALineOnStderrTheJournalHearsNothing) {
  const Manager journal;
  EXPECT_FALSE(tell_journal({"x"}, journal.path()));
  const test::EnvironmentVariable named("JOURNAL_STREAM", "1:2"); // that of who has started this
  EXPECT_FALSE(tell_journal({"x"}, journal.path()));
  EXPECT_EQ(journal.heard(), "");
  const test::EnvironmentVariable own("JOURNAL_STREAM", stream_of_stderr());
  EXPECT_FALSE(tell_journal({"x"}, journal.path() + "x")) << "nobody is there";
}

} // namespace
} // namespace mqbridge
