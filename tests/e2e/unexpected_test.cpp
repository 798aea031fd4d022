// Messages that have come and that nobody has received, and those that are still under way: as the
// programs say that they have sent and received them.

#include "tests/e2e/harness/call_job.h"
#include "tests/e2e/harness/mqbridge_run.h"
#include "tests/e2e/harness/step_job.h"
#include "tests/e2e/harness/traffic.h"
#include "tests/support/eventually.h"
#include "tests/support/process_table.h"
#include "tests/support/temp_directory.h"

#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <map>
#include <string>

namespace mqbridge::e2e {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;

constexpr int to_inter = 3;

JobSpec ranks(int count) {
  return {.program = "mpi_traffic", .arguments = {}, .ranks = count};
}

// Every kind of message from both others to rank 1, on every communicator.
TrafficStep all_kinds() {
  TrafficStep lines;
  int tag = 0;
  for (const int from : {0, 2}) {
    for (const int comm : {0, 1, 2, to_inter}) {
      const int peer = comm == to_inter ? 0 : 1; // rank 1 is the only odd one, and in the middle
      for (const long bytes : {0L, 8L, 400L, 1L << 20})
        lines.push_back({from, "isend", comm, peer, ++tag, bytes});
      lines.push_back({from, "issend", comm, peer, ++tag, 16});
    }
  }
  return lines;
}

TrafficStep many(int count) {
  TrafficStep lines;
  for (int tag = 0; tag < count; ++tag)
    lines.push_back({tag % 3 == 0 ? 2 : 0, "isend", 1 + tag % 2, 1, tag, 8});
  return lines;
}

TEST(UnexpectedMessages, OfEveryKindAreShownInTheOrderInWhichTheyWereSent) {
  expect_traffic(ranks(3), {all_kinds()});
}

TEST(UnexpectedMessages, OfTenThousandAreAllShown) {
  expect_traffic(ranks(3), {many(10'000)});
}

// A rank that makes no MPI call takes nothing in.
TEST(MessageCounters, SayWhatIsUnderWay) {
  expect_traffic(ranks(2), {{{0, "late", 1, 1, 1, 8},
                             {0, "late", 1, 1, 2, 8},
                             {0, "isend", 1, 1, 3, 8},
                             {1, "late", 3, 0, 4, 0},
                             {1, "irecv", 3, 0, 5, 100}}});
}

// They have 16 bits.
TEST(MessageCounters, GoRound) {
  expect_traffic(ranks(2), {{{0, "burst", 1, 1, 1, 65'530},
                             {1, "burst", 1, 0, 1, 131'080},
                             {0, "isend", 1, 1, 2, 8},
                             {0, "late", 1, 1, 3, 8},
                             {0, "late", 1, 1, 4, 8},
                             {0, "late", 1, 1, 5, 8},
                             {0, "late", 1, 1, 6, 8},
                             {0, "late", 1, 1, 7, 8},
                             {0, "late", 1, 1, 8, 8},
                             {1, "late", 1, 0, 9, 8}}});
}

TEST(MessageCounters, AndUnexpectedMessagesAreThoseOfRandomPrograms) {
  std::vector<TrafficStep> steps;
  for (std::uint32_t seed = 1; seed <= 6; ++seed)
    steps.push_back(random_traffic(seed, 3));
  expect_traffic(ranks(3), steps);
}

// What a signal has stopped is read as it stands, and stays so.
TEST(UnexpectedMessages, OfAStoppedRankAreShown) {
  const test::TempDirectory directory;
  std::ofstream(directory / "schedule") << schedule_text({all_kinds()});
  JobSpec spec = ranks(3);
  spec.arguments = {(directory / "schedule").string()};
  StepJob job(spec);
  job.await_step(0);
  const pid_t receiver = job.job().pid(1);
  kill(receiver, SIGSTOP);
  EXPECT_TRUE(test::eventually(5s, [&] { return test::process_state(receiver) == 'T'; }));
  const DumpOutcome dump = job.dump();
  EXPECT_EQ(dump.status(), 0) << testing::PrintToString<Outcome>(dump);
  EXPECT_THAT(traffic_differences(job.directory(0), dump.document), IsEmpty());
  EXPECT_EQ(test::process_state(receiver), 'T');
  kill(receiver, SIGCONT);
  job.go(0);
  EXPECT_EQ(job.finish(), "");
}

/// The number of messages by tag, as their sender says.
std::map<int, int> sent_by(const std::filesystem::path& directory, int rank) {
  std::ifstream log(directory / ("sent." + std::to_string(rank)));
  std::map<int, int> tags;
  for (int tag = 0, bytes = 0; log >> tag >> bytes;)
    ++tags[tag];
  return tags;
}

// They wait for the communicator to be made, which has been freed.
TEST(UnexpectedMessages, ForACommunicatorThatTheRankDoesNotHaveAreSaid) {
  MpiJob job({.program = "freed_too_early", .arguments = {}, .ranks = 3});
  const auto dump = dump_json({local_target(job.pid(0)), local_target(job.pid(1))});
  ASSERT_EQ(dump.document["ranks"].size(), 2U) << testing::PrintToString<Outcome>(dump);
  const auto shared = find_communicator(dump.document["ranks"][0], "shared");
  ASSERT_TRUE(shared["context_id"].is_string()) << shared;
  EXPECT_TRUE(find_communicator(dump.document["ranks"][1], "shared").is_null());
  EXPECT_TRUE(find_error(dump.document["ranks"][0], "queue.no_communicator").is_null());
  const auto said = find_error(dump.document["ranks"][1], "queue.no_communicator");
  ASSERT_FALSE(said.is_null()) << dump.document["ranks"][1]["errors"];
  EXPECT_EQ(said["level"], "warning");
  EXPECT_EQ(dump.document["ranks"][1]["status"], "ok");
  const std::string text = said["message"];
  EXPECT_THAT(text, testing::StartsWith("6 messages came for communicators"));
  for (const int rank : {0, 2})
    for (const auto& [tag, count] : sent_by(job.directory(), rank))
      EXPECT_THAT(text,
                  testing::HasSubstr(fmt::format("{} from {} tag {} on context {}", count, rank,
                                                 tag, shared["context_id"].get<std::string>())));
  const auto shown = run_mqbridge({"dump", local_target(job.pid(1))});
  EXPECT_THAT(shown.out, testing::HasSubstr("6 messages came for communicators"));
  EXPECT_EQ(job.finish(), "");
}

} // namespace
} // namespace mqbridge::e2e
