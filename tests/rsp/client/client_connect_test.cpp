#include "rsp/client/client.h"
#include "rsp/commands/attach.h"
#include "rsp/exchange/connection.h"
#include "rsp/guardian/guardian.h"
#include "rsp/guardian/hold_gate.h"
#include "rsp/transport/open.h"
#include "tests/support/eventually.h"
#include "tests/support/scripted_stub.h"
#include "tests/support/stub_listener.h"
#include "tests/support/temp_directory.h"
#include "tests/support/test_programs.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <iterator>
#include <netinet/in.h>
#include <regex>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace mqbridge::rsp {
namespace {

using namespace std::chrono_literals;
using testing::AnyOf;
using testing::HasSubstr;

/// Takes one client and treats it as told.
class Server {
public:
  explicit Server(std::function<void(int)> treat)
      : listener_(test::listen_on_loopback(port_)), thread_([this, treat = std::move(treat)] {
          const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
          treat(client);
          ::close(client);
        }) {}
  ~Server() {
    thread_.join();
    ::close(listener_);
  }
  std::string target() const { return "127.0.0.1:" + port_; }

private:
  std::string port_;
  int listener_;
  std::thread thread_;
};

void drain(int fd) {
  std::array<char, 4096> ignored;
  while (::recv(fd, ignored.data(), ignored.size(), 0) > 0) {
  }
}

void say(int fd, std::string_view text) {
  (void)::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
}

/// The error of connecting there; fails the test if it works.
Error refusal(const std::string& target, ClientOptions options = {.silence_timeout = 200ms}) {
  const auto endpoint = Endpoint::parse(target);
  EXPECT_TRUE(endpoint) << target;
  auto client = Client::connect(*endpoint, options);
  EXPECT_FALSE(client) << target;
  return client ? Error{} : client.error();
}

TEST(Connect, NobodyListens) {
  std::string port;
  ::close(test::listen_on_loopback(port));
  const auto error = refusal("127.0.0.1:" + port);
  EXPECT_EQ(error.code, "connect.refused");
  EXPECT_THAT(error.message, HasSubstr(port));
  EXPECT_THAT(error.hint, HasSubstr("gdbserver --once --attach :PORT PID"));
}

TEST(Connect, NameThatDoesNotExist) {
  // A label of 64 characters is refused without a name server.
  const auto error = refusal(std::string(64, 'n') + ":7001");
  EXPECT_EQ(error.code, "connect.unresolved");
}

/// A listener that never accepts and whose queue is full: the kernel drops what comes.
class DeafHost : public testing::Test {
protected:
  DeafHost() : listener_(test::listen_on_loopback(port_)) {
    ::listen(listener_, 0);
    for (auto& filler : fillers_) {
      filler = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(port_)));
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      ::connect(filler, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    }
    std::this_thread::sleep_for(50ms);
  }
  ~DeafHost() override {
    for (const int filler : fillers_)
      ::close(filler);
    ::close(listener_);
  }
  std::string target() const { return "127.0.0.1:" + port_; }

private:
  std::string port_;
  int listener_;
  std::array<int, 3> fillers_{};
};

TEST_F(DeafHost, IsGivenUpAtTheTimeout) {
  const auto begun = std::chrono::steady_clock::now();
  const auto error = refusal(target(), {.connect_timeout = 200ms});
  EXPECT_EQ(error.code, "connect.timeout") << error.message;
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 3s);
}

TEST_F(DeafHost, IsGivenUpWhenTheUserStops) {
  std::stop_source stop;
  std::thread stopper([&stop] {
    std::this_thread::sleep_for(50ms);
    stop.request_stop();
  });
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(refusal(target(), {.stop = stop.get_token()}).code, "interrupted");
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 5s);
  stopper.join();
}

/// Whoever is suspended before a connection is made has all its time when it goes on.
TEST(Connect, TheTimeoutDoesNotCountWhileMqbridgeIsSuspended) {
  const test::ScriptedStub stub;
  HoldGate holds;
  const auto guardian = Guardian::start(test::guardian_program(), &holds);
  ASSERT_TRUE(guardian) << guardian.error().message;
  holds.close();
  std::thread continued([&holds] {
    std::this_thread::sleep_for(600ms);
    holds.open();
  });
  const auto client =
      Client::connect(stub.endpoint(), {.connect_timeout = 300ms, .guardian = guardian->get()});
  continued.join();
  EXPECT_TRUE(client) << client.error().message;
}

TEST(Connect, CanBeStoppedWhileTheOtherSideIsSilent) {
  Server server([](int fd) { drain(fd); });
  std::stop_source stop;
  std::thread stopper([&stop] {
    std::this_thread::sleep_for(50ms);
    stop.request_stop();
  });
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(refusal(server.target(), {.stop = stop.get_token()}).code, "interrupted");
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 5s);
  stopper.join();
}

TEST(Connect, UnixSocketThatIsNotThere) {
  EXPECT_EQ(refusal("unix:/nonexistent/socket").code, "connect.failed");
}

TEST(Connect, WebServerIsNoStub) {
  Server server([](int fd) {
    say(fd, "HTTP/1.1 400 Bad Request\r\nContent-Type: text/html\r\n\r\n<p>#fff $5 + - %</p>");
    drain(fd); // keeps the connection
  });
  const auto begun = std::chrono::steady_clock::now();
  const auto error = refusal(server.target(), {.silence_timeout = 10s});
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 5s);
  EXPECT_EQ(error.code, "stub.not_a_stub");
  EXPECT_THAT(error.message, HasSubstr("HTTP/1.1 400"));
}

TEST(Connect, ServerWithABannerIsNoStub) {
  Server server([](int fd) { say(fd, "220 mail.example.org ESMTP $#xx\r\n"); });
  const auto error = refusal(server.target());
  EXPECT_EQ(error.code, "stub.not_a_stub");
  EXPECT_THAT(error.message, HasSubstr("220 mail"));
}

TEST(Connect, SilentServerIsNoStub) {
  Server server([](int fd) { drain(fd); });
  const auto error = refusal(server.target());
  EXPECT_EQ(error.code, "stub.not_a_stub");
  EXPECT_THAT(error.hint, HasSubstr("another debugger"));
}

TEST(Connect, EchoIsNoStub) {
  Server server([](int fd) {
    std::array<char, 4096> bytes;
    for (ssize_t count; (count = ::recv(fd, bytes.data(), bytes.size(), 0)) > 0;)
      say(fd, {bytes.data(), static_cast<std::size_t>(count)});
  });
  EXPECT_EQ(refusal(server.target()).code, "stub.not_a_stub");
}

TEST(Connect, StubThatOnlyAcknowledgesIsOneThatHangs) {
  Server server([](int fd) {
    say(fd, "+");
    drain(fd);
  });
  EXPECT_EQ(refusal(server.target()).code, "stub.timeout");
}

TEST(Connect, ServerThatClosesAtOnce) {
  Server server([](int) {});
  EXPECT_EQ(refusal(server.target()).code, "stub.closed");
}

TEST(Connect, FloodIsNoStubAndEatsNoMemory) {
  Server server([](int fd) {
    const std::string chunk(65536, 'z');
    for (int i = 0; i < 1000 && ::send(fd, chunk.data(), chunk.size(), MSG_NOSIGNAL) > 0; ++i) {
    }
  });
  EXPECT_EQ(refusal(server.target()).code, "stub.not_a_stub");
}

TEST(Command, ThatDoesNotExist) {
  const Endpoint endpoint{"ssh:n1:1", CommandEndpoint{{"/nonexistent/stub"}}, std::nullopt};
  const auto client = Client::connect(endpoint, {});
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, "connect.failed");
  EXPECT_THAT(client.error().message, HasSubstr("/nonexistent/stub"));
  EXPECT_THAT(client.error().message, HasSubstr("No such file"));
}

TEST(Command, ErrorShowsItsStderrAndHowItEnded) {
  const auto error = refusal("exec:echo no such node >&2; exit 3");
  EXPECT_EQ(error.code, "stub.closed");
  EXPECT_THAT(error.message, HasSubstr("exited with status 3"));
  EXPECT_THAT(error.message, HasSubstr("no such node"));
}

/// A command that never answers, and waits for a child that has stopped itself, as gdbserver does
/// where it may not trace.
class SilentCommand {
public:
  bool connects(bool holds_nothing_yet) const {
    ClientOptions options;
    options.silence_timeout = 1s;
    const CommandEndpoint command{
        .argv = {"sh", "-c",
                 fmt::format("sh -c 'echo $$ >>{0}; kill -STOP $$' & echo $$ >>{0}; wait",
                             file_.string())},
        .holds_nothing_yet = holds_nothing_yet};
    return Client::connect({"local:1", command, std::nullopt}, options).has_value();
  }
  ~SilentCommand() {
    for (const pid_t pid : processes())
      if (runs(pid))
        ::kill(pid, SIGKILL);
  }

  std::size_t count() const { return processes().size(); }
  bool any_runs() const { return std::ranges::any_of(processes(), runs); }

private:
  std::vector<pid_t> processes() const {
    std::ifstream numbers(file_);
    return {std::istream_iterator<pid_t>(numbers), {}};
  }
  /// Whoever adopts an orphan may leave it a zombie.
  static bool runs(pid_t pid) {
    std::ifstream stat(fmt::format("/proc/{}/stat", pid));
    std::string number, name, state;
    return stat >> number >> name >> state && state != "Z";
  }

  const test::TempDirectory directory_;
  const std::filesystem::path file_ = directory_.path() / "pids";
};

TEST(Command, ThatHoldsNothingAndNeverAnswersIsEndedWithItsChildren) {
  const SilentCommand may_hold;
  EXPECT_FALSE(may_hold.connects(false));
  EXPECT_TRUE(test::eventually(5s, [&] { return may_hold.count() == 2; }));
  EXPECT_TRUE(may_hold.any_runs());
  const SilentCommand holds_nothing;
  EXPECT_FALSE(holds_nothing.connects(true));
  ASSERT_EQ(holds_nothing.count(), 2U) << "too slow to tell";
  EXPECT_TRUE(test::eventually(5s, [&] { return !holds_nothing.any_runs(); }));
}

TEST(Command, EndlessStderrNeitherBlocksItNorFillsTheMessage) {
  const auto error = refusal("exec:head -c 1000000 /dev/zero | tr '\\0' e >&2; exit 4");
  EXPECT_EQ(error.code, "stub.closed");
  EXPECT_THAT(error.message, HasSubstr("exited with status 4"));
  EXPECT_LT(error.message.size(), 2000U);
}

TEST(Command, KilledCommandIsToldAsSuch) {
  EXPECT_THAT(refusal("exec:kill -9 $$").message, HasSubstr("killed by signal 9"));
}

TEST(Command, RunsInASessionOfItsOwnWithoutOurDescriptorsAndIsReaped) {
  constexpr int leaked = 77; // not close-on-exec
  ASSERT_EQ(::dup2(STDERR_FILENO, leaked), leaked);
  const auto error =
      refusal("exec:echo pid=$$ sid=$(cut -d' ' -f6 /proc/$$/stat) fds: /proc/$$/fd/* >&2; exit 1");
  ::close(leaked);
  std::smatch match;
  ASSERT_TRUE(
      std::regex_search(error.message, match, std::regex("pid=([0-9]+) sid=([0-9]+) fds: (.*)")))
      << error.message;
  EXPECT_EQ(match[1], match[2]);
  EXPECT_THAT(match[3].str(), testing::Not(HasSubstr("/fd/77")));
  EXPECT_FALSE(std::filesystem::exists("/proc/" + match[1].str())) << "a zombie";
}

TEST(Command, TextOnItsStdoutIsNoStub) {
  const auto error = refusal("exec:echo Welcome to node 17; cat > /dev/null");
  EXPECT_EQ(error.code, "stub.not_a_stub");
  EXPECT_THAT(error.message, HasSubstr("Welcome to node 17"));
}

char state_of(pid_t pid) {
  std::ifstream in(fmt::format("/proc/{}/stat", pid));
  const std::string stat(std::istreambuf_iterator<char>(in), {});
  const auto paren = stat.rfind(')');
  return paren == std::string::npos ? '?' : stat.at(paren + 2);
}

class RealGdbserver : public testing::Test {
protected:
  RealGdbserver() : child_(::fork()) {
    if (child_ == 0) {
      ::setpgid(0, 0);
      ::execlp("sleep", "sleep", "1000", nullptr);
      ::_exit(127);
    }
  }
  ~RealGdbserver() override {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  std::string target() const {
    return fmt::format("exec:exec gdbserver --once --attach - {}", child_);
  }

  const pid_t child_;
};

TEST_F(RealGdbserver, IsStartedOnStdioAndItsTargetRunsOn) {
  {
    const auto client = Client::connect(*Endpoint::parse(target()), {});
    ASSERT_TRUE(client) << client.error().message;
    EXPECT_TRUE((*client)->features().no_ack);
    EXPECT_TRUE((*client)->features().vfile);
    EXPECT_TRUE((*client)->features().qxfer_libraries_svr4);
    ASSERT_TRUE(attach(**client));
    EXPECT_EQ(state_of(child_), 't');
  }
  EXPECT_THAT(state_of(child_), AnyOf('S', 'R'));
  EXPECT_EQ(::waitpid(child_, nullptr, WNOHANG), 0);
}

// A client that has to wait must not send 0x03 to learn whether the target runs: gdbserver leaves
// the SIGINT pending when it is stopped, and the target dies of it when it is detached.
TEST_F(RealGdbserver, SlowToAnswerCostsTheTargetNothing) {
  const auto slow = fmt::format("exec:sleep 2.5; exec gdbserver --once --attach - {}", child_);
  Client::connect(*Endpoint::parse(slow), {}).value().reset();
  std::this_thread::sleep_for(200ms);
  EXPECT_EQ(::waitpid(child_, nullptr, WNOHANG), 0) << "the target died";
}

TEST(Connect, ClosingEndsACommandToo) {
  auto opened = open_transport(Endpoint::parse("exec:cat").value(),
                               {std::chrono::steady_clock::now() + 10s, {}}, nullptr);
  ASSERT_TRUE(opened) << opened.error().message;
  opened->transport->end(); // while others, as the guardian does, may hold the descriptor
  const auto received = opened->transport->receive(std::chrono::steady_clock::now() + 10s);
  EXPECT_EQ(received.kind, Received::Kind::closed);
  EXPECT_TRUE(test::eventually(
      10s, [&] { return opened->transport->last_words() == "the command exited with status 0"; }));
}

} // namespace
} // namespace mqbridge::rsp
