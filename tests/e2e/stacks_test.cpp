// `mqbridge stacks` of a real job whose ranks say which call they make, and where.

#include "tests/e2e/harness/call_sites.h"
#include "tests/e2e/harness/mpi_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/queue_view.h"
#include "tests/e2e/harness/schema.h"
#include "tests/e2e/harness/step_job.h"
#include "tests/support/eventually.h"
#include "tests/support/process_table.h"

#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <map>
#include <set>
#include <sstream>

namespace mqbridge::e2e {
namespace {

using nlohmann::json;
using testing::ContainsRegex;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Four ranks, three of them in a collective that the other one never comes to.
class StacksOfAJob : public testing::Test {
protected:
  StacksOfAJob()
      : job_({.program = "mpi_calls", .arguments = {"single", allreduce_.argument()}, .ranks = 4}) {
    job_.await_step(0);
    EXPECT_TRUE(job_.await_blocked(0, allreduce_.inside));
  }

  void TearDown() override {
    job_.go(0);
    EXPECT_EQ(job_.finish(), "") << "no rank was disturbed";
  }

  Outcome stacks(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "stacks");
    for (int rank = 0; rank < 4; ++rank)
      arguments.push_back(local_target(job_.job().pid(rank)));
    return run_mqbridge(arguments);
  }

  /// "MPI_Allreduce", "call_collectives.c:92": what rank 0 says.
  std::pair<std::string, std::string> said() const {
    std::ifstream log(job_.directory(0) / "call.0");
    std::string call;
    std::filesystem::path place;
    log >> call >> place;
    return {call, place.filename().string()};
  }

  const CallCase allreduce_{.call = "allreduce", .inside = {0, 1, 3}};
  StepJob job_;
};

TEST_F(StacksOfAJob, AreOneTreeThatLeadsToTheRankThatIsMissing) {
  const Outcome text = stacks({});
  ASSERT_EQ(text.status(), 0) << testing::PrintToString(text);
  const auto [call, place] = said();
  ASSERT_EQ(call, "MPI_Allreduce");
  EXPECT_THAT(text.out, ContainsRegex("^4 ranks, 4 threads( \\([0-9]+ helper threads left out: "
                                      "--threads all\\))?\n  4  0-3    main  mpi_calls\\.c:"));
  std::istringstream in(text.out);
  std::string before;
  std::string line;
  while (std::getline(in, line) && !line.ends_with(" " + call))
    before = line;
  EXPECT_THAT(line, ContainsRegex("^  3  0-1,3 +MPI_Allreduce$"));
  EXPECT_THAT(before, ContainsRegex("^  3  0-1,3 "));
  EXPECT_THAT(before, EndsWith("  " + place)) << "the line that makes the call";
  EXPECT_THAT(text.out, ContainsRegex("\n  1  2 +job_wait_for_go  job_files\\.c:[0-9]+\n"));
  EXPECT_THAT(text.out, Not(HasSubstr("\n  ...")));
}

TEST_F(StacksOfAJob, AreADocumentOfTheSchemaWithoutQueues) {
  const Outcome text = stacks({"--format", "json"});
  ASSERT_EQ(text.status(), 0) << testing::PrintToString(text);
  const json document = json::parse(text.out);
  EXPECT_EQ(schema_violation(document), "");
  EXPECT_EQ(document["filters"], json::parse(R"({"queue": []})"));
  EXPECT_THAT(site_differences(allreduce_, job_.directory(0), document), IsEmpty());
  for (const json& rank : document["ranks"]) {
    EXPECT_THAT(rank["communicators"], IsEmpty());
    EXPECT_EQ(rank["dll"], nullptr) << "none is loaded";
    ASSERT_TRUE(rank["stacks"].is_array());
    const json& main_thread = rank["stacks"].at(0);
    EXPECT_EQ(main_thread["thread"], std::to_string(rank["pid"].get<int>()));
    EXPECT_EQ(main_thread["end"], "outermost");
    EXPECT_EQ(main_thread["helper"], false);
  }
}

TEST_F(StacksOfAJob, AreWhatADumpsHeadingsSayAndNothingWithoutThem) {
  const auto dump = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "dump");
    for (int rank = 0; rank < 4; ++rank)
      arguments.push_back(local_target(job_.job().pid(rank)));
    return run_mqbridge(arguments).out;
  };
  const auto [call, place] = said();
  const auto with = dump({});
  EXPECT_THAT(with, HasSubstr(fmt::format("\nRank 0  in {} at {}", call, place)));
  EXPECT_THAT(with, ContainsRegex("\nRank 2  outside MPI: job_wait_for_go at job_files\\.c:"));
  const auto without = dump({"--no-stacks"});
  EXPECT_THAT(without, HasSubstr("\nRank 0  "));
  EXPECT_THAT(without, Not(HasSubstr(call)));
  EXPECT_THAT(without, Not(HasSubstr("outside MPI")));
}

/// The state of each thread of a process, by its number, without the main thread.
std::map<std::int64_t, char> states_of_others(pid_t process) {
  std::map<std::int64_t, char> states;
  for (const auto& task :
       std::filesystem::directory_iterator(fmt::format("/proc/{}/task", process)))
    if (const auto thread = std::stol(task.path().filename()); thread != process)
      states.emplace(thread, test::process_state(static_cast<pid_t>(thread)));
  return states;
}

// No debugger can attach to it, but to each of its other threads.
TEST(ProcessWhoseMainThreadHasEnded, IsLookedAtByItsOtherThreads) {
  constexpr std::size_t receives = 5;
  SingleProcess process("main_ended", {std::to_string(receives)});
  ASSERT_TRUE(test::eventually(std::chrono::seconds(5),
                               [&] { return test::process_state(process.pid()) == 'Z'; }));
  const auto threads = states_of_others(process.pid());
  const auto dump = dump_json({local_target(process.pid())});
  ASSERT_EQ(dump.document["ranks"].size(), 1U) << testing::PrintToString<Outcome>(dump);
  const json rank = dump.document["ranks"][0];
  EXPECT_EQ(rank["status"], "ok") << rank["errors"];
  EXPECT_EQ(rank["pid"], process.pid());
  EXPECT_EQ(receives_of(rank), receives + 1) << "and that of MPI_Recv";
  EXPECT_FALSE(find_error(rank, "target.main_ended").is_null()) << rank["errors"];
  std::set<std::int64_t> shown;
  std::string functions;
  for (const json& stack : rank["stacks"]) {
    shown.insert(std::stol(stack["thread"].get<std::string>()));
    for (const json& frame : stack["frames"])
      functions += frame["function"].is_string() ? frame["function"].get<std::string>() + " " : "";
  }
  for (const auto& [thread, state] : threads)
    EXPECT_THAT(shown, testing::Contains(thread));
  for (const auto* function : {"receive_last", "send_all", "only_wait"})
    EXPECT_THAT(functions, HasSubstr(function));
  for (const auto& [thread, state] : states_of_others(process.pid()))
    EXPECT_TRUE(state == 'S' || state == 'R') << thread << ' ' << state;
  EXPECT_EQ(process.finish(), "") << "it was not disturbed";
}

} // namespace
} // namespace mqbridge::e2e
