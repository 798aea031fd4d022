// --run-until with the stubs that start processes: what the process sees of its signals.

#include "rsp/commands/run_until.h"
#include "rsp/commands/threads.h"
#include "rsp/guardian/guardian.h"
#include "tests/support/child_process.h"
#include "tests/support/connected.h"
#include "tests/support/eventually.h"
#include "tests/support/gdb_server.h"
#include "tests/support/real_stub.h"
#include "tests/support/requirements.h"
#include "tests/support/test_programs.h"

#include <chrono>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace mqbridge::rsp {
namespace {

using namespace std::chrono_literals;
using test::connected;
using test::RealStub;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

constexpr int remote_usr1 = 30;
constexpr int remote_usr2 = 31;

/// Who starts the process; the emulators' platforms number signals differently.
struct Starter {
  std::string architecture; ///< empty: this machine's, under gdbserver
  std::string emulator;
  std::string compiler;
};

void PrintTo(const Starter& starter, std::ostream* out) {
  *out << (starter.emulator.empty() ? "gdbserver" : starter.emulator);
}

class RunUntilReal : public testing::TestWithParam<Starter> {
protected:
  void SetUp() override { MQBRIDGE_SKIP_IF_LACKING(lacking()); }

  std::string program() const {
    const auto& architecture = GetParam().architecture;
    return fmt::format("{}/raise_signals{}{}", MQBRIDGE_CROSS_INFERIORS,
                       architecture.empty() ? "" : "-", architecture);
  }

  std::string lacking() const {
    if (GetParam().emulator.empty())
      return {};
    if (access(program().c_str(), X_OK) != 0)
      return fmt::format("no {}: apt install {}, then build again", program(), GetParam().compiler);
    return test::lacking_program(GetParam().emulator, "qemu-user-static");
  }

  RealStub start(const std::string& delay, const std::string& how = {},
                 const std::string& where = "{port}") const {
    std::vector<std::string> command{"gdbserver", "--once", "127.0.0.1:" + where};
    if (!GetParam().emulator.empty())
      command = {GetParam().emulator, "-g", where};
    for (const auto& word : {program(), delay, how})
      if (!word.empty())
        command.push_back(word);
    return RealStub(std::move(command));
  }

  void attach_to(const RealStub& stub) {
    client_ = connected(stub.endpoint());
    ASSERT_TRUE(client_);
    const auto attached = attach(*client_);
    ASSERT_TRUE(attached) << attached.error().message;
    attachment_ = *attached;
  }

  static bool says(const RealStub& stub, const std::string& text) {
    return test::eventually(
        10s, [&] { return stub.out().find(text) != std::string::npos; }, 5ms);
  }

  std::unique_ptr<Client> client_;
  Attachment attachment_;
};

/// gdbserver does not listen on Unix sockets.
class RunUntilQemu : public RunUntilReal {};

TEST_P(RunUntilReal, EachSignalComesOnceAndTheProcessFinishes) {
  RealStub stub = start("0");
  ASSERT_NO_FATAL_FAILURE(attach_to(stub));
  EXPECT_EQ(stub.out().find("before"), std::string::npos) << "it stands at its entry";
  const auto report = run_until(*client_, {remote_usr1}, attachment_);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->signal, remote_usr1);
  EXPECT_THAT(report->passed, ElementsAre(Pair(remote_usr2, 1)));
  EXPECT_THAT(stub.out(), Not(HasSubstr("after")));
  const auto released = detach(*client_);
  EXPECT_TRUE(released) << released.error().message;
  client_.reset();
  EXPECT_TRUE(says(stub, "after USR2=1 USR1=1")) << stub.out();
  EXPECT_TRUE(stub.wait(10s));
}

TEST_P(RunUntilReal, AnySignalWillDo) {
  RealStub stub = start("0");
  ASSERT_NO_FATAL_FAILURE(attach_to(stub));
  const auto report = run_until(*client_, {}, attachment_);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->signal, remote_usr2);
  client_.reset(); // detaches; the second signal comes when nobody is there any more
  EXPECT_TRUE(says(stub, "after USR2=1 USR1=1")) << stub.out();
  EXPECT_TRUE(stub.wait(10s));
}

/// QEMU has something to say at each signal, and a Unix socket that nobody reads is fatal to it.
TEST_P(RunUntilQemu, OnAUnixSocketTheProcessFinishesToo) {
  RealStub stub = start("0", "", "{socket}");
  ASSERT_NO_FATAL_FAILURE(attach_to(stub));
  const auto report = run_until(*client_, {}, attachment_);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->signal, remote_usr2);
  EXPECT_TRUE(report->signal_lost);
  client_.reset();
  EXPECT_TRUE(says(stub, "after USR2=0 USR1=1")) << stub.out();
  EXPECT_TRUE(stub.wait(10s));
}

TEST_P(RunUntilReal, LeftAtItsEntryTheProcessRunsToItsEnd) {
  RealStub stub = start("0");
  ASSERT_NO_FATAL_FAILURE(attach_to(stub));
  client_.reset();
  EXPECT_TRUE(says(stub, "after USR2=1 USR1=1")) << stub.out();
  EXPECT_TRUE(stub.wait(10s));
}

TEST_P(RunUntilReal, AProcessThatEndsFirstIsAnError) {
  RealStub stub = start("0", "nothing");
  ASSERT_NO_FATAL_FAILURE(attach_to(stub));
  const auto report = run_until(*client_, {remote_usr1}, attachment_);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, "run.exited");
  EXPECT_THAT(report.error().message, HasSubstr("exit status 7"));
  EXPECT_THAT(stub.out(), HasSubstr("after USR2=0 USR1=0"));
}

/// Ctrl-C, or the end of mqbridge, while the process runs: it must go on as if nobody had come.
TEST_P(RunUntilReal, InterruptedTheProcessRunsToItsEnd) {
  RealStub stub = start("700");
  auto guardian = Guardian::start(test::guardian_program());
  ASSERT_TRUE(guardian) << guardian.error().message;
  const auto endpoint = Endpoint::parse(stub.endpoint());
  ASSERT_TRUE(endpoint);
  auto client = Client::connect(*endpoint, {.guardian = guardian->get()});
  ASSERT_TRUE(client) << client.error().message;
  auto attachment = attach(**client);
  ASSERT_TRUE(attachment) << attachment.error().message;
  std::jthread user([&] {
    EXPECT_TRUE(says(stub, "before"));
    (*client)->cancel();
  });
  const auto report = run_until(**client, {remote_usr1}, *attachment);
  user.join();
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, "interrupted");
  EXPECT_THAT(stub.out(), Not(HasSubstr("after")));
  client->reset();
  guardian->reset();
  EXPECT_TRUE(says(stub, "after USR2=1 USR1=1")) << stub.out();
  EXPECT_TRUE(stub.wait(10s));
}

TEST(RunUntilServer, AProcessThatItAttachesRunsUntilItsSignal) {
  const test::ChildProcess process({{MQBRIDGE_CROSS_INFERIORS "/raise_signals", "2000"}});
  const auto says = [&](const char* text) {
    return test::eventually(10s, [&] { return process.out().find(text) != std::string::npos; });
  };
  ASSERT_TRUE(says("before"));
  const test::GdbServer server(test::ServerMode::multi, process.pid());
  auto client = connected(server.endpoint());
  ASSERT_TRUE(client);
  auto attachment = attach(*client);
  ASSERT_TRUE(attachment) << attachment.error().message;
  const auto report = run_until(*client, {remote_usr1}, *attachment);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(report->passed, ElementsAre(Pair(remote_usr2, 1)));
  EXPECT_TRUE(read_threads(*client));
  EXPECT_THAT(process.out(), Not(HasSubstr("after")));
  client.reset();
  EXPECT_TRUE(says("after USR2=1 USR1=1")) << process.out();
}

const Starter emulators[] = {{"ppc", "qemu-ppc-static", "gcc-powerpc-linux-gnu"},
                             {"mips", "qemu-mips-static", "gcc-mips-linux-gnu"},
                             {"s390x", "qemu-s390x-static", "gcc-s390x-linux-gnu"}};

std::string name_of(const testing::TestParamInfo<Starter>& starter) {
  return starter.param.architecture.empty() ? "gdbserver" : starter.param.architecture;
}

INSTANTIATE_TEST_SUITE_P(Gdbserver, RunUntilReal, testing::Values(Starter()), name_of);
INSTANTIATE_TEST_SUITE_P(Emulators, RunUntilReal, testing::ValuesIn(emulators), name_of);
INSTANTIATE_TEST_SUITE_P(Emulators, RunUntilQemu, testing::ValuesIn(emulators), name_of);

} // namespace
} // namespace mqbridge::rsp
