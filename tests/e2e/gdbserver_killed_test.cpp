// The gdbserver that mqbridge has started dies, or is suspended, while it attaches: the kernel has
// stopped the target for it, and it cannot let the target go.

#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/prey.h"
#include "tests/e2e/harness/traced_run.h"
#include "tests/support/faults_tried.h"
#include "tests/support/process_table.h"

#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ostream>
#include <random>
#include <string>
#include <thread>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;

struct ServerFault {
  std::string name;
  int signal;
  int times;
};
void PrintTo(const ServerFault& fault, std::ostream* stream) {
  *stream << fault.name;
}

class GdbserverKilled : public testing::TestWithParam<ServerFault> {};

TEST_P(GdbserverKilled, WhileItAttachesLeavesNoTargetStopped) {
  const auto prey = trap("stdio").set();
  std::mt19937 random(1); // NOLINT: the same moments each time
  std::uniform_int_distribution<int> delay(0, 8'000);
  int met = 0;
  int mended = 0;
  for (int attempt = 0; attempt < GetParam().times; ++attempt) {
    auto arguments = prey->arguments();
    arguments.insert(arguments.begin(), {"dump", "--max-stop", "2"});
    TracedRun run(arguments);
    run.await_phase("attach", 1, 20s);
    std::this_thread::sleep_for(std::chrono::microseconds(delay(random)));
    std::vector<pid_t> servers;
    for (const pid_t pid : test::descendants_of(run.process().pid()))
      if (test::process_name(pid) == "gdbserver" && kill(pid, GetParam().signal) == 0)
        servers.push_back(pid);
    met += servers.empty() ? 0 : 1;
    const auto ending = run.process().wait(60s);
    ASSERT_TRUE(ending);
    const std::string said = run.process().out() + run.process().err();
    mended += said.find("target.continued") != std::string::npos ? 1 : 0;
    ASSERT_TRUE(prey->run(5s)) << "attempt " << attempt << '\n' << said;
    for (const pid_t server : servers) // one that was suspended before it had attached
      if (test::process_name(server) == "gdbserver")
        kill(server, SIGKILL);
  }
  test::faults_tried(static_cast<std::size_t>(met));
  RecordProperty("mended", mended);
  EXPECT_GT(met, GetParam().times / 2);
  EXPECT_EQ(prey->finish(), "");
}

INSTANTIATE_TEST_SUITE_P(Signals, GdbserverKilled,
                         testing::Values(ServerFault{"Kill", SIGKILL, 40},
                                         ServerFault{"Term", SIGTERM, 15},
                                         ServerFault{"Stop", SIGSTOP, 10}),
                         [](const auto& name) { return name.param.name; });

} // namespace
} // namespace mqbridge::e2e
