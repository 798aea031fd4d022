// The job runs on to its normal end after whatever mqbridge does to it, short of kill -9
// (kill_test.cpp).

#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/relay.h"
#include "tests/support/eventually.h"
#include "tests/support/gdb_server.h"
#include "tests/support/process_table.h"

#include <csignal>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <thread>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using test::ChildProcess;
using test::eventually;
using test::GdbServer;
using test::ServerMode;
using test::tracer_of;

TEST(RunsOnTest, ComputingJobIsDumpedTenTimesAndGetsItsSumRight) {
  MpiJob job({.program = "pi_loop", .arguments = {"1500"}});
  for (int round = 0; round < 10; ++round) {
    const DumpOutcome dump = dump_json({local_target(job.pid(0)), local_target(job.pid(1))});
    ASSERT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  }
  EXPECT_EQ(job.finish(), "");
}

struct Interruption {
  const char* name;
  int signal;
  int status;
};

void PrintTo(const Interruption& interruption, std::ostream* stream) {
  *stream << interruption.name;
}

class InterruptTest : public testing::TestWithParam<Interruption> {};

TEST_P(InterruptTest, EveryTargetIsReleasedWhenItIsOver) {
  const auto [name, signal, status] = GetParam();
  SingleProcess victim("mpi_victim");
  int interrupted = 0;
  for (int round = 0; round < 12; ++round) {
    GdbServer server(ServerMode::attach, victim.pid());
    ChildProcess mqbridge(mqbridge_command({"dump", server.endpoint()}));
    eventually(5s, [&] { return server.clients() > 0 || mqbridge.wait(0ms).has_value(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(5 * round));
    mqbridge.signal(signal);
    const auto ending = mqbridge.wait(10s);
    ASSERT_TRUE(ending.has_value()) << "round " << round;
    // Already released when the program has ended, not some time after it.
    EXPECT_EQ(tracer_of(victim.pid()), 0) << "round " << round;
    EXPECT_TRUE(makes_progress(victim.directory(), 2s)) << "round " << round;
    const int code = ending->code.value_or(-1);
    EXPECT_TRUE(code == status || code == 0) << "status " << code << "\n" << mqbridge.err();
    interrupted += code == status ? 1 : 0;
  }
  EXPECT_GE(interrupted, 3) << "too few signals came in the middle";
  EXPECT_EQ(victim.finish(), "");
}

INSTANTIATE_TEST_SUITE_P(Signals, InterruptTest,
                         testing::Values(Interruption{"SIGINT", SIGINT, 130},
                                         Interruption{"SIGTERM", SIGTERM, 143}),
                         [](const auto& param) { return std::string(param.param.name); });

// A stub that stops to answer at any point: connecting, attaching, reading. What it hears still
// reaches the server.
class StalledStubTest : public testing::TestWithParam<std::size_t> {};

TEST_P(StalledStubTest, MaxStopEndsItAndTheTargetRunsOn) {
  SingleProcess victim("mpi_victim");
  {
    GdbServer server(mode_for(GetParam()), victim.pid());
    const Relay relay(server.port(), GetParam(), RelayFault::silent);
    const auto start = std::chrono::steady_clock::now();
    const DumpOutcome dump =
        dump_json({relay.endpoint(), "--max-stop", "1", "--timeout", "5"}, 40s);
    EXPECT_FALSE(dump.timed_out);
    EXPECT_LT(std::chrono::steady_clock::now() - start, 30s);
    EXPECT_TRUE(dump.status() == 1 || dump.status() == 3) << testing::PrintToString<Outcome>(dump);
    ASSERT_EQ(dump.document["ranks"].size(), 1U) << testing::PrintToString<Outcome>(dump);
    const json& rank = dump.document["ranks"][0];
    EXPECT_NE(rank["status"], "ok");
    ASSERT_FALSE(rank["errors"].empty());
    for (const json& error : rank["errors"])
      EXPECT_FALSE(error["message"].get<std::string>().empty());
    EXPECT_TRUE(makes_progress(victim.directory(), 5s));
  }
  EXPECT_EQ(victim.finish(), "");
}

INSTANTIATE_TEST_SUITE_P(AfterBytes, StalledStubTest,
                         testing::Values(100U, 3'000U, 30'000U, 100'000U));

// The stub's end of the line goes away in the middle.
class ClosingStubTest : public testing::TestWithParam<std::size_t> {};

TEST_P(ClosingStubTest, IsAnErrorThatSaysSo) {
  SingleProcess victim("mpi_victim");
  {
    GdbServer server(ServerMode::attach_once, victim.pid());
    const Relay relay(server.port(), GetParam(), RelayFault::close);
    const DumpOutcome dump = dump_json({relay.endpoint()}, 30s);
    EXPECT_TRUE(dump.status() == 1 || dump.status() == 3) << testing::PrintToString<Outcome>(dump);
    const json error = find_error(dump.document["ranks"][0], "stub.closed");
    ASSERT_FALSE(error.is_null()) << testing::PrintToString<Outcome>(dump);
    EXPECT_FALSE(error["hint"].is_null());
    EXPECT_TRUE(makes_progress(victim.directory(), 5s));
  }
  EXPECT_EQ(victim.finish(), "");
}

INSTANTIATE_TEST_SUITE_P(AfterBytes, ClosingStubTest,
                         testing::Values(0U, 100U, 3'000U, 30'000U, 100'000U));

TEST(RunsOnTest, JobEndsNormallyAfterADumpThatFailed) {
  MpiJob job({.arguments = {"mix"}});
  const DumpOutcome dump = dump_json(
      {"--dll", "/nonexistent/dll.so", local_target(job.pid(0)), local_target(job.pid(1))});
  EXPECT_NE(dump.status(), 0);
  EXPECT_EQ(job.finish(), "");
}

} // namespace
} // namespace mqbridge::e2e
