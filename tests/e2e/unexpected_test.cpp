// Messages that have come and that nobody has received, and those that are still under way: as the
// programs say that they have sent and received them.

#include "tests/e2e/harness/call_job.h"
#include "tests/e2e/harness/traffic.h"

#include <gtest/gtest.h>

namespace mqbridge::e2e {
namespace {

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

TEST(MessageCounters, AndUnexpectedMessagesAreThoseOfRandomPrograms) {
  std::vector<TrafficStep> steps;
  for (std::uint32_t seed = 1; seed <= 6; ++seed)
    steps.push_back(random_traffic(seed, 3));
  expect_traffic(ranks(3), steps);
}

} // namespace
} // namespace mqbridge::e2e
