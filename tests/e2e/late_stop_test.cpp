// gdbserver's own SIGSTOP does not stay behind with a process: one that ran runs on, and one that
// somebody had stopped stays stopped.

#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/support/child_process.h"
#include "tests/support/eventually.h"
#include "tests/support/faults_tried.h"
#include "tests/support/process_table.h"
#include "tests/support/temp_directory.h"

#include <csignal>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <thread>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;

TEST(LateStop, LeavesTheProcessAsItWas) {
  constexpr int dumps = 8;
  for (const bool suspended : {false, true}) {
    test::ChildProcess process({{MQBRIDGE_BINARY_DIRECTORY "/inferiors/late_stop"}});
    std::this_thread::sleep_for(100ms); // until both threads are there
    if (suspended)
      process.signal(SIGSTOP);
    int first_by_another = 0;
    for (int i = 0; i < dumps; ++i) {
      const test::TempDirectory directory;
      const std::string trace = (directory / "trace").string();
      run_mqbridge({"dump", "--no-analyze", "--trace", trace, local_target(process.pid())});
      EXPECT_TRUE(test::eventually(2s, [&] { return test::tracer_of(process.pid()) == 0; }));
      std::this_thread::sleep_for(100ms); // a signal that stops it would have done so
      EXPECT_EQ(test::is_stopped(process.pid()), suspended) << i;
      std::ifstream packets(trace);
      const std::string sent(std::istreambuf_iterator<char>(packets), {});
      first_by_another += sent.find("QProgramSignals:1;") != std::string::npos ? 1 : 0;
      if (!suspended)
        process.signal(SIGCONT); // for the next round
    }
    EXPECT_TRUE(suspended || first_by_another > 0) << "the main thread was never late";
    test::faults_tried(dumps);
  }
}

} // namespace
} // namespace mqbridge::e2e
