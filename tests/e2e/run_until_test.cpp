// --run-until as a user has it: what the report says, and that whatever ends mqbridge while the
// process runs leaves the process to itself.

#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/support/child_process.h"
#include "tests/support/eventually.h"
#include "tests/support/real_stub.h"
#include "tests/support/requirements.h"

#include <chrono>
#include <csignal>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <ostream>
#include <string>
#include <unistd.h>
#include <vector>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using test::ChildProcess;
using test::RealStub;
using testing::HasSubstr;
using testing::Not;

/// Whether the process runs under an emulator, or natively under gdbserver.
class RunUntilTest : public testing::TestWithParam<bool> {
protected:
  void SetUp() override {
    if (!GetParam())
      return;
    MQBRIDGE_SKIP_IF_LACKING(access(program().c_str(), X_OK) == 0
                                 ? test::lacking_program("qemu-ppc-static", "qemu-user-static")
                                 : "no " + program() +
                                       ": apt install gcc-powerpc-linux-gnu "
                                       "libc6-dev-powerpc-cross    then configure and build again");
  }

  static std::string program() {
    return fmt::format("{}/inferiors/raise_signals{}", MQBRIDGE_BINARY_DIRECTORY,
                       GetParam() ? "-ppc" : "");
  }

  static RealStub start(std::vector<std::string> arguments) {
    std::vector<std::string> command{"gdbserver", "--once", "127.0.0.1:{port}"};
    if (GetParam())
      command = {"qemu-ppc-static", "-g", "{port}"};
    command.push_back(program());
    command.insert(command.end(), arguments.begin(), arguments.end());
    return RealStub(std::move(command));
  }

  static bool says(const RealStub& stub, const std::string& text) {
    return test::eventually(
        10s, [&] { return stub.out().find(text) != std::string::npos; }, 5ms);
  }

  static json only_rank(const DumpOutcome& dump) {
    return dump.document.is_object() ? dump.document["ranks"][0] : json();
  }
};

/// What limits a stub's silence and the time of the stop does not count while the process runs.
TEST_P(RunUntilTest, TheStopBeginsAtTheSignal) {
  RealStub stub = start({"2500"});
  const DumpOutcome dump = dump_json(
      {"--run-until", "signal=SIGUSR1", "--timeout", "1", "--max-stop", "2", stub.endpoint()});
  EXPECT_EQ(dump.status(), 3) << testing::PrintToString<Outcome>(dump);
  const json rank = only_rank(dump);
  EXPECT_FALSE(find_error(rank, "mpi.not_found").is_null()) << rank["errors"];
  EXPECT_LT(rank["stopped_ms"].get<double>(), 2000);
  EXPECT_FALSE(rank["stopped_before_us"].get<bool>());
  const json run = find_error(rank, "run.stopped");
  ASSERT_FALSE(run.is_null()) << rank["errors"];
  EXPECT_EQ(run["level"], "warning");
  EXPECT_THAT(run["message"].get<std::string>(),
              HasSubstr("SIGUSR1 stopped it; passed on before: 1 SIGUSR2"));
  EXPECT_TRUE(says(stub, "after USR2=1 USR1=1")) << stub.out();
}

TEST_P(RunUntilTest, AProcessThatEndsIsAnError) {
  RealStub stub = start({"0", "nothing"});
  const DumpOutcome dump = dump_json({"--run-until", "signal", stub.endpoint()});
  EXPECT_EQ(dump.status(), 3) << testing::PrintToString<Outcome>(dump);
  const json error = find_error(only_rank(dump), "run.exited");
  ASSERT_FALSE(error.is_null()) << dump.out;
  EXPECT_THAT(error["message"].get<std::string>(), HasSubstr("exit status 7"));
  EXPECT_TRUE(only_rank(dump)["pid"].is_number()) << "it was attached to";
}

TEST_P(RunUntilTest, WithoutItThePossibleReasonIsSaid) {
  RealStub stub = start({"0"});
  const DumpOutcome dump = dump_json({stub.endpoint()});
  EXPECT_EQ(dump.status(), 3) << testing::PrintToString<Outcome>(dump);
  EXPECT_THAT(only_rank(dump)["errors"].dump(), HasSubstr("--run-until signal"));
  EXPECT_TRUE(says(stub, "after USR2=1 USR1=1")) << stub.out();
}

TEST_P(RunUntilTest, InterruptedWhileItRunsTheProcessRunsOn) {
  for (const int signal : {SIGINT, SIGTERM, SIGKILL}) {
    RealStub stub = start({"1700"}); // the guardian keeps mqbridge for one second of it
    ChildProcess mqbridge(
        mqbridge_command({"dump", "--run-until", "signal=USR1", stub.endpoint()}));
    ASSERT_TRUE(says(stub, "before")) << stub.out();
    mqbridge.signal(signal);
    const auto ending = mqbridge.wait(5s);
    ASSERT_TRUE(ending);
    if (signal != SIGKILL) {
      EXPECT_EQ(ending->code, 128 + signal);
    }
    EXPECT_THAT(stub.out(), Not(HasSubstr("after")));
    EXPECT_TRUE(says(stub, "after USR2=1 USR1=1")) << signal << ": " << stub.out();
    EXPECT_TRUE(stub.wait(10s));
  }
}

TEST_P(RunUntilTest, DoctorHasItToo) {
  RealStub stub = start({"0"});
  const Outcome doctor = run_mqbridge({"doctor", "--run-until", "signal=USR1", stub.endpoint()});
  EXPECT_EQ(doctor.status(), 1) << testing::PrintToString(doctor);
  EXPECT_THAT(doctor.out, HasSubstr("SIGUSR1 stopped it"));
}

INSTANTIATE_TEST_SUITE_P(Starters, RunUntilTest, testing::Bool(), [](const auto& emulated) {
  return emulated.param ? "QemuUser" : "Gdbserver";
});

} // namespace
} // namespace mqbridge::e2e
