// Every call of MPI that waits, in jobs of two to eight ranks, with some ranks inside and others
// not, and with sizes on both sides of every one at which Open MPI goes over to another algorithm.

#include "tests/e2e/harness/call_job.h"
#include "tests/e2e/harness/foreign_poster.h"
#include "tests/support/requirements.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace mqbridge::e2e {
namespace {

// Open MPI 4.1's borders for two to eight ranks (coll_tuned_decision_fixed.c) lie between these.
constexpr long sizes[] = {1,      3,      6,       12,      24,      48,      100,
                          200,    400,    800,     1500,    3000,    6000,    12'000,
                          24'000, 50'000, 100'000, 200'000, 400'000, 800'000, 2'000'000};

const std::vector<std::string> collectives = {
    "barrier",   "bcast",     "gather",     "gatherv",        "scatter",
    "scatterv",  "allgather", "allgatherv", "alltoall",       "alltoallv",
    "alltoallw", "reduce",    "allreduce",  "reduce_scatter", "reduce_scatter_block",
    "scan",      "exscan"};
const std::vector<std::string> neighbors = {"neighbor_allgather", "neighbor_allgatherv",
                                            "neighbor_alltoall", "neighbor_alltoallv",
                                            "neighbor_alltoallw"};

JobSpec calls_job(int ranks) {
  return {.program = "mpi_calls", .arguments = {}, .ranks = ranks};
}

std::vector<int> all_but(int ranks, int missing) {
  std::vector<int> inside;
  for (int rank = 0; rank < ranks; ++rank)
    if (rank != missing)
      inside.push_back(rank);
  return inside;
}

// All but the first, the last, one in between; every other one.
std::vector<std::vector<int>> insides(int ranks) {
  std::vector<std::vector<int>> all = {all_but(ranks, 0), all_but(ranks, ranks - 1)};
  if (ranks > 2)
    all.push_back(all_but(ranks, ranks / 2));
  if (ranks > 3) {
    all.emplace_back();
    for (int rank = 0; rank < ranks; rank += 2)
      all.back().push_back(rank);
  }
  return all;
}

// MPI 3.1, 5.9 to 5.11: no prefixes, and what both groups scatter must be as long.
bool is_for_groups(const std::string& call, int ranks) {
  return !call.ends_with("scan") && (ranks % 2 == 0 || !call.starts_with("reduce_scatter"));
}

class EveryCollective : public testing::TestWithParam<int> {};
class EveryCallOfNeighbors : public testing::TestWithParam<int> {};
class EveryCallBetween : public testing::TestWithParam<int> {};
class EveryCallForMessages : public testing::TestWithParam<int> {};

TEST_P(EveryCollective, LeadsToTheRanksThatAreMissing) {
  const int ranks = GetParam();
  const auto sets = insides(ranks);
  for (const auto& call : collectives) {
    std::vector<CallCase> cases;
    std::size_t turn = 0;
    for (const long bytes : sizes) {
      if (call == "barrier" && bytes != sizes[0])
        continue;
      const char* const comm = turn / sets.size() % 2 == 0 ? "world" : "reversed";
      cases.push_back({call, comm, bytes, sets[turn++ % sets.size()]});
    }
    for (const auto& inside : sets)
      cases.push_back({call, "dup", 8, inside});
    expect_calls(calls_job(ranks), cases);
  }
}

TEST_P(EveryCallOfNeighbors, AndOfNewCommunicatorsLeadsToTheRanksThatAreMissing) {
  const int ranks = GetParam();
  std::vector<CallCase> cases;
  for (const auto& inside : insides(ranks)) {
    for (const auto& call : neighbors)
      for (const long bytes : {8L, 100'000L})
        cases.push_back({call, "ring", bytes, inside});
    for (const char* call : {"comm_dup", "comm_split", "comm_create", "intercomm_create"})
      for (const char* comm : {"world", "reversed"})
        cases.push_back({call, comm, 8, inside});
  }
  expect_calls(calls_job(ranks), cases);
}

TEST_P(EveryCallBetween, TwoGroupsLeadsToTheRanksThatAreMissing) {
  const int ranks = GetParam();
  for (const auto& inside : insides(ranks)) {
    std::vector<CallCase> cases;
    for (const auto& call : collectives)
      if (is_for_groups(call, ranks))
        for (const long bytes : {8L, 100'000L})
          cases.push_back({call, "between", bytes, inside});
    for (const char* call : {"comm_dup", "comm_split", "intercomm_merge"})
      cases.push_back({call, "between", 8, inside});
    expect_calls(calls_job(ranks), cases);
  }
}

std::vector<CallCase> message_cases(int ranks, Threads threads) {
  std::vector<CallCase> cases;
  for (const char* comm : {"world", "dup", "reversed", "between"}) {
    const auto inside = std::string(comm) == "between" ? std::vector<int>{0} : all_but(ranks, 0);
    for (const char* call : {"ssend", "recv", "wait", "waitall", "waitall_mixed", "waitall_sends",
                             "waitany", "waitsome", "waitany_ibarrier", "waitall_ibarrier"})
      for (const long bytes : {8L, 100'000L})
        cases.push_back({call, comm, bytes, inside});
    if (threads == Threads::multiple) {
      cases.push_back({"two_threads", comm, 8, inside});
      continue;
    }
    for (const char* call : {"send", "rsend", "sendrecv", "sendrecv_replace"})
      cases.push_back({call, comm, 100'000, inside});
    for (const char* call : {"probe", "mprobe"})
      cases.push_back({call, comm, 8, inside});
  }
  return cases;
}

TEST_P(EveryCallForMessages, ShowsThem) {
  for (const auto threads : {Threads::single, Threads::multiple})
    expect_calls(calls_job(GetParam()), message_cases(GetParam(), threads), threads);
}

// Its own launcher starts it: pointers of four bytes.
TEST(CallsOf32Bits, LeadToTheRanksThatAreMissing) {
  const ForeignPlatform& i386 = foreign_platform("i386");
  MQBRIDGE_SKIP_IF_LACKING(lacking(i386));
  std::vector<CallCase> cases;
  for (const auto& call : collectives)
    for (const long bytes : {8L, 100'000L})
      cases.push_back({call, "world", bytes, {0, 1, 3}});
  for (const char* call : {"comm_dup", "comm_split", "intercomm_create"})
    cases.push_back({call, "reversed", 8, {0, 2}});
  expect_calls(foreign_job(i386, "mpi_calls", 4), cases);
}

TEST(CallsOf32Bits, ThatWaitForMessagesShowThem) {
  const ForeignPlatform& i386 = foreign_platform("i386");
  MQBRIDGE_SKIP_IF_LACKING(lacking(i386));
  for (const auto threads : {Threads::single, Threads::multiple})
    expect_calls(foreign_job(i386, "mpi_calls", 3), message_cases(3, threads), threads);
}

std::string of_ranks(const testing::TestParamInfo<int>& info) {
  return fmt::format("of_{}", info.param);
}

INSTANTIATE_TEST_SUITE_P(Ranks, EveryCollective, testing::Values(2, 3, 5, 8), of_ranks);
INSTANTIATE_TEST_SUITE_P(Ranks, EveryCallOfNeighbors, testing::Values(2, 4, 8), of_ranks);
INSTANTIATE_TEST_SUITE_P(Ranks, EveryCallBetween, testing::Values(2, 3, 6), of_ranks);
INSTANTIATE_TEST_SUITE_P(Ranks, EveryCallForMessages, testing::Values(2, 4), of_ranks);

} // namespace
} // namespace mqbridge::e2e
