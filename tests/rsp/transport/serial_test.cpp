// Serial lines, over a pair of pseudo-terminals at the speed of a real one.

#include "rsp/client/client.h"
#include "rsp/commands/attach.h"
#include "rsp/commands/read_memory.h"
#include "rsp/exchange/connection.h"
#include "rsp/guardian/guardian.h"
#include "tests/rsp/guardian/guardian_fixture.h"
#include "tests/support/byte_pump.h"
#include "tests/support/child_process.h"
#include "tests/support/connected.h"
#include "tests/support/eventually.h"
#include "tests/support/process_table.h"
#include "tests/support/scripted_stub.h"
#include "tests/support/serial_cable.h"
#include "tests/support/stub_listener.h"
#include "tests/support/temp_directory.h"
#include "tests/support/test_programs.h"

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <future>
#include <gmock/gmock.h>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <sys/file.h>
#include <sys/mman.h>
#include <termios.h>
#include <thread>
#include <unistd.h>
#include <variant>
#include <vector>

namespace mqbridge::rsp {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using test::ChildProcess;
using test::connected;
using test::mapping_of;
using test::memory_of;
using test::SerialCable;
using testing::HasSubstr;

Result<std::unique_ptr<Client>> connect_by(const std::string& target, ClientOptions options = {}) {
  return Client::connect(Endpoint::parse(target).value(), options);
}

termios settings_of(const std::string& device) {
  const UniqueFd fd(::open(device.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  termios settings{};
  EXPECT_EQ(tcgetattr(fd.get(), &settings), 0);
  return settings;
}

/// A process, and a gdbserver that has attached to it and listens on the far end of a line.
class GdbServerOnALine {
public:
  explicit GdbServerOnALine(const SerialCable& cable) {
    inferior_.emplace(test::ChildSpec{{test::inferior_program()}});
    server_.emplace(
        test::ChildSpec{{"gdbserver", "--attach", cable.far(), std::to_string(inferior_->pid())}});
    const bool ready = test::eventually(
        20s, [this] { return server_->err().find("Remote debugging using") != std::string::npos; });
    EXPECT_TRUE(ready) << server_->err();
  }
  ~GdbServerOnALine() {
    server_->signal(SIGKILL);
    server_->wait(5s);
  }
  pid_t inferior() const { return inferior_->pid(); }

private:
  std::optional<ChildProcess> inferior_;
  std::optional<ChildProcess> server_;
};

TEST(Serial, ReadsMemoryAtTheSpeedOfTheLine) {
  constexpr std::uint32_t baud = 115'200;
  constexpr std::size_t size = 12 * 1024;
  const SerialCable cable(baud);
  GdbServerOnALine server(cable);
  const auto client = connected("serial:" + cable.near());
  ASSERT_TRUE(client);
  EXPECT_EQ(client->features().kind, StubKind::gdbserver);
  // No single packet takes longer than a second.
  EXPECT_LE(client->features().packet_size, baud / 10);
  const auto attached = attach(*client);
  ASSERT_TRUE(attached) << attached.error().message;
  EXPECT_EQ(attached->pid, server.inferior());

  const auto address = mapping_of(server.inferior(), "libc.so.6");
  ASSERT_NE(address, 0U);
  std::string into(size, '\0');
  ReadRequest request{address, std::as_writable_bytes(std::span(into))};
  const auto started = Clock::now();
  const auto before = cable.to_near();
  const auto read = read_memory(*client, {&request, 1});
  ASSERT_TRUE(read) << read.error().message;
  const std::chrono::duration<double> took = Clock::now() - started;
  EXPECT_TRUE(into == memory_of(server.inferior(), address, size));
  // The line, not we, is what takes the time.
  const double line = static_cast<double>(cable.to_near() - before) / (baud / 10.0);
  EXPECT_GT(took.count(), 0.9 * line);
  EXPECT_LT(took.count(), 1.5 * line + 0.5);

  const auto detached = detach(*client);
  EXPECT_TRUE(detached) << detached.error().message;
  EXPECT_TRUE(test::runs_within(server.inferior(), 5s));
}

/// Else it would obey a request that the line has damaged.
TEST(Serial, PacketsAreAcknowledgedEvenIfTheStubOffersToGoWithout) {
  const SerialCable cable(115'200);
  const test::ScriptedStub stub({.no_ack = true});
  const UniqueFd far(::open(cable.far().c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  const UniqueFd socket(
      test::connect_to_loopback(std::get<TcpEndpoint>(stub.endpoint().where).port));
  const test::BytePump requests(far.get(), socket.get(), {});
  const test::BytePump replies(socket.get(), far.get(), {});
  const auto client = connected("serial:" + cable.near());
  ASSERT_TRUE(client);
  EXPECT_FALSE(client->features().no_ack);
  EXPECT_TRUE(client->request("qAttached"));
  EXPECT_EQ(stub.count("QStartNoAckMode"), 0U);
}

TEST(Serial, TheSettingsOfTheLineArePutBack) {
  const SerialCable cable(115'200);
  const termios before = settings_of(cable.near());
  ASSERT_NE(before.c_lflag & ICANON, 0U); // a terminal for people, as it is made
  GdbServerOnALine server(cable);
  auto client = connected(fmt::format("serial:{}:250000", cable.near()));
  ASSERT_TRUE(client);
  ASSERT_TRUE(attach(*client));
  EXPECT_EQ(settings_of(cable.near()).c_lflag & (ICANON | ECHO | ISIG), 0U);
  client.reset();
  const termios after = settings_of(cable.near());
  EXPECT_EQ(after.c_lflag, before.c_lflag);
  EXPECT_EQ(after.c_iflag, before.c_iflag);
  EXPECT_EQ(after.c_oflag, before.c_oflag);
  EXPECT_EQ(after.c_cflag, before.c_cflag);
  EXPECT_EQ(cfgetospeed(&after), cfgetospeed(&before));
}

TEST(Serial, ALineThatNoGuardianTakesIsLeftAsItWas) {
  const SerialCable cable(115'200);
  // One that is killed is replaced, as long as its program is there.
  const test::TempDirectory directory;
  const auto program = directory / "mqbridge-guardian";
  std::filesystem::copy_file(test::guardian_program(), program);
  const auto guardian = Guardian::start(program);
  ASSERT_TRUE(guardian) << guardian.error().message;
  std::filesystem::remove(program);
  kill(await_guardian(), SIGKILL);
  ASSERT_TRUE(test::eventually(5s, [&] { return (*guardian)->trouble().has_value(); }));
  const auto client = connect_by("serial:" + cable.near(), {.guardian = guardian->get()});
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, "guardian.lost");
  EXPECT_NE(settings_of(cable.near()).c_lflag & ICANON, 0U);
}

/// Which it has taken over, as mqbridge was suspended, and may not have said its last word on.
TEST(Serial, ALineThatTheGuardianSpeaksOnKeepsItsSettings) {
  const SerialCable cable(115'200);
  GdbServerOnALine server(cable);
  const auto guardian = Guardian::start(test::guardian_program());
  ASSERT_TRUE(guardian) << guardian.error().message;
  auto client = connect_by("serial:" + cable.near(), {.guardian = guardian->get()});
  ASSERT_TRUE(client) << client.error().message;
  ASSERT_TRUE(attach(**client));
  guardian::Takeovers* const taken = takeovers();
  ASSERT_NE(taken, nullptr);
  constexpr std::uint32_t first_handle = 1;
  taken->take(first_handle, guardian::moment_of(std::chrono::steady_clock::now()));
  munmap(taken, sizeof *taken);
  const auto lost = (*client)->request("?");
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, "guardian.released");
  client->reset();
  EXPECT_EQ(settings_of(cable.near()).c_lflag & (ICANON | ECHO), 0U);
}

TEST(Serial, ALineInUseIsRefused) {
  const SerialCable cable(115'200);
  const UniqueFd other(::open(cable.near().c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_EQ(::flock(other.get(), LOCK_EX), 0);
  const auto client = connect_by("serial:" + cable.near());
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, "connect.busy");
  EXPECT_THAT(client.error().hint, HasSubstr("fuser -v " + cable.near()));
  EXPECT_NE(settings_of(cable.near()).c_lflag & ICANON, 0U); // untouched
}

TEST(Serial, ALineIsOursWhileWeHaveIt) {
  const SerialCable cable(115'200);
  GdbServerOnALine server(cable);
  const auto client = connected("serial:" + cable.near());
  ASSERT_TRUE(client);
  const auto second = connect_by("serial:" + cable.near());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, "connect.busy");
}

/// In the middle of bursts: a line keeps what was asked for a second or more.
TEST(Serial, TheGuardianReleasesWhatAKilledClientHeld) {
  for (const auto when : {0ms, 150ms, 900ms, 1700ms}) {
    const SerialCable cable(115'200);
    const GdbServerOnALine server(cable);
    {
      ChildProcess victim(
          {{test::kill_victim_program(), test::guardian_program(), "serial:" + cable.near()}});
      const bool attached = test::eventually(
          10s, [&] { return victim.err().find("attached") != std::string::npos; }, 1ms);
      ASSERT_TRUE(attached) << victim.err();
      std::this_thread::sleep_for(when);
      victim.signal(SIGKILL);
      ASSERT_TRUE(victim.wait(5s));
    }
    EXPECT_TRUE(test::runs_within(server.inferior(), 6s)) << when.count();
  }
}

struct NoLine {
  std::string target;
  std::string says;
};

TEST(Serial, WhatIsNoSerialDeviceIsSaid) {
  for (const auto& [target, says] :
       {NoLine{"serial:/dev/no-such-device", "No such file"},
        NoLine{"serial:/dev/null", "no serial"}, NoLine{"serial:/", "directory"}}) {
    const auto client = connect_by(target);
    ASSERT_FALSE(client) << target;
    EXPECT_EQ(client.error().code, "connect.failed") << target;
    EXPECT_THAT(client.error().message, HasSubstr(says)) << target;
    EXPECT_FALSE(client.error().hint.empty()) << target;
  }
}

TEST(Serial, ASilentLineTimesOut) {
  const SerialCable cable(115'200);
  const auto silent = connect_by("serial:" + cable.near(), {.silence_timeout = 200ms});
  ASSERT_FALSE(silent);
  EXPECT_EQ(silent.error().code, "stub.not_a_stub");
}

TEST(Serial, APulledPlugIsSeen) {
  SerialCable cable(115'200);
  auto pulled =
      std::async(std::launch::async, [&] { return connect_by("serial:" + cable.near()); });
  EXPECT_TRUE(test::eventually(10s, [&] { return cable.to_far() != 0; }));
  cable.unplug_near();
  const auto gone = pulled.get();
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, "stub.closed");
}

TEST(Serial, WaitingIsInterrupted) {
  const SerialCable cable(115'200);
  std::stop_source stop;
  auto connecting = std::async(std::launch::async, [&] {
    return connect_by("serial:" + cable.near(), {.stop = stop.get_token()});
  });
  std::this_thread::sleep_for(100ms);
  const auto asked = Clock::now();
  stop.request_stop();
  const auto client = connecting.get();
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, "interrupted");
  EXPECT_LT(Clock::now() - asked, 2s);
}

} // namespace
} // namespace mqbridge::rsp
