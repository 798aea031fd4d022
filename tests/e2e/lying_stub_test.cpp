// Stubs that lie: each lie is told by a stub of its own beside an honest one. It costs its own rank
// an error that says what was wrong, or nothing; never the other rank, time, memory, or the target.

#include "tests/e2e/harness/lie.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/queue_view.h"
#include "tests/e2e/harness/whole_stub.h"
#include "tests/support/faults_tried.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <thread>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;

constexpr std::size_t posted = 10;
constexpr auto time_limit = 100s; ///< a lie ends in a second or two where nothing else runs
#if defined(__SANITIZE_ADDRESS__) // keeps what is freed, up to 256 MiB of it, and a map of all
constexpr long memory_limit_mib = 2048;
#else
constexpr long memory_limit_mib = 512; ///< of any process; an honest dump has some 180
#endif

/// The most that any child of this test has had.
long peak_of_children_mib() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  return used.ru_maxrss / 1024;
}

void expect_all_there(const json& rank) {
  EXPECT_EQ(rank["status"], "ok") << rank["errors"];
  EXPECT_EQ(receives_of(rank), posted);
}

void expect_error(const json& rank, const Lie& lie) {
  EXPECT_NE(rank["status"], "ok");
  for (const json& error : rank["errors"]) {
    const std::string code = error["code"];
    if (error["level"] != "error" || std::count(lie.codes.begin(), lie.codes.end(), code) == 0)
      continue;
    EXPECT_THAT(error["message"].get<std::string>(), HasSubstr(lie.text));
    EXPECT_TRUE(error["hint"].is_string() && error["hint"] != "") << error;
    return;
  }
  ADD_FAILURE() << "no error " << testing::PrintToString(lie.codes) << " in " << rank["errors"];
}

void expect_outcome(const Outcome& outcome, const Lie& lie) {
  const json document = json::parse(outcome.out, nullptr, false);
  ASSERT_TRUE(document.is_object() && document["ranks"].size() == 2)
      << testing::PrintToString(outcome);
  expect_all_there(document["ranks"][1]);
  const json& rank = document["ranks"][0];
  if (lie.then == Then::is_complete)
    expect_all_there(rank);
  if (lie.then == Then::fails)
    expect_error(rank, lie);
  if (lie.then != Then::varies) {
    EXPECT_EQ(outcome.status(), lie.then == Then::fails ? 1 : 0);
  }
}

void tell(const Lie& lie, pid_t process) {
  SCOPED_TRACE(lie.name);
  constexpr pid_t shown = 4711;
  const test::TempDirectory directory;
  test::ScriptedStub honest;
  test::ScriptedStub stub;
  front_process_as_gdbserver(honest, process, shown + 1);
  front_process_as_gdbserver(stub, process, shown);
  lie.tell({stub, process, shown, directory});
  auto command = mqbridge_command({"dump", "--format", "json", "--timeout", "20",
                                   "0=" + stub.endpoint().text + lie.target_suffix,
                                   "1=" + honest.endpoint().text});
  command.environment = {{"XDG_CACHE_HOME", directory.path().string()}};
  const Outcome outcome = run_program(command, time_limit);
  ASSERT_FALSE(outcome.timed_out) << outcome.err;
  expect_outcome(outcome, lie);
  EXPECT_LT(peak_of_children_mib(), memory_limit_mib);
  // Whoever says that its process has ended has nothing to let go.
  if (stub.count("?") > 0 && lie.codes != std::vector<std::string>{"attach.exited"}) {
    EXPECT_GT(stub.count("D"), 0U);
  }
}

void tell_all(const std::vector<Lie>& lies) {
  const SingleProcess process("many_receives", {std::to_string(posted)});
  constexpr int at_once = 3;
  std::atomic<std::size_t> next = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < at_once; ++i)
    threads.emplace_back([&] {
      for (std::size_t index = 0; (index = next++) < lies.size();)
        tell(lies[index], process.pid());
    });
  for (std::thread& thread : threads)
    thread.join();
  test::faults_tried(lies.size());
}

TEST(LyingStub, AboutItselfCostsItsOwnRankAnError) {
  tell_all(lies_about_itself());
}

TEST(LyingStub, InObjectsCostsItsOwnRankAnError) {
  tell_all(lies_in_objects());
}

TEST(LyingStub, InTheLinkMapCostsItsOwnRankAnError) {
  tell_all(lies_in_link_map());
}

TEST(LyingStub, InMemoryCostsItsOwnRankAnError) {
  tell_all(lies_in_memory());
}

TEST(LyingStub, InFilesCostsNothing) {
  tell_all(lies_in_files());
}

} // namespace
} // namespace mqbridge::e2e
