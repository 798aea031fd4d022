// A rank that is blocked in a call of MPI shows what it waits for, whatever the call: messages,
// probes, the inside of a collective, and nobody more than that; and each says where it was called.

#include "tests/e2e/harness/call_job.h"
#include "tests/e2e/harness/mpich.h"
#include "tests/support/requirements.h"

#include <gtest/gtest.h>

namespace mqbridge::e2e {
namespace {

JobSpec ranks(int count) {
  return {.program = "mpi_calls", .arguments = {}, .ranks = count};
}

TEST(BlockedCalls, ThatWaitForMessagesShowThem) {
  expect_calls(ranks(3), {{"recv", "dup", 8, {0, 2}},
                          {"send", "world", 100'000, {1}},
                          {"ssend", "reversed", 8, {0, 1}},
                          {"rsend", "world", 100'000, {0, 2}},
                          {"bsend", "dup", 400, {0}},
                          {"sendrecv", "world", 100'000, {1, 2}},
                          {"sendrecv_replace", "reversed", 100'000, {2}},
                          {"probe", "reversed", 8, {0}},
                          {"probe", "between", 8, {1}},
                          {"mprobe", "dup", 8, {1, 2}},
                          {"recv", "between", 100'000, {1}}});
}

TEST(BlockedCalls, ThatWaitForSeveralSayWhichAndHowManyOfThem) {
  expect_calls(ranks(3), {{"wait", "world", 8, {0, 2}},
                          {"wait_second", "dup", 8, {0, 1}},
                          {"waitall", "dup", 8, {0, 1}},
                          {"waitall_mixed", "between", 8, {1}},
                          {"waitall_sends", "reversed", 100'000, {2}},
                          {"waitany", "reversed", 8, {0, 2}},
                          {"waitsome", "world", 8, {1}},
                          {"waitany_ibarrier", "world", 8, {0, 1}},
                          {"waitall_ibarrier", "dup", 8, {2}}});
}

TEST(BlockedCalls, OfSeveralThreadsAreToldApart) {
  expect_calls(ranks(2),
               {{"two_threads", "dup", 8, {0}},
                {"wait", "world", 8, {1}},
                {"recv", "world", 8, {0}},
                {"ssend", "dup", 8, {1}},
                {"waitall", "reversed", 8, {0}},
                {"waitany", "reversed", 8, {0}},
                {"barrier", "world", 8, {0}}},
               Threads::multiple);
}

TEST(BlockedCalls, InsideOfCollectivesOfFourLeadToTheRankThatIsMissing) {
  expect_calls(ranks(4), {{"barrier", "world", 8, {0, 1, 2}},
                          {"bcast", "world", 2'000'000, {0, 1, 3}},
                          {"bcast", "dup", 8, {1, 2, 3}},
                          {"gather", "world", 8, {0, 2}},
                          {"scatterv", "world", 8, {1, 2}},
                          {"allgather", "reversed", 8, {0, 1, 2}},
                          {"allgatherv", "dup", 8, {1, 3}},
                          {"alltoall", "dup", 100'000, {0, 1, 3}},
                          {"alltoallw", "world", 8, {0, 2}},
                          {"reduce", "world", 8, {0, 1, 2}},
                          {"allreduce", "reversed", 20'000, {0, 2, 3}},
                          {"reduce_scatter", "world", 8, {0, 1}},
                          {"scan", "world", 8, {1, 2, 3}},
                          {"exscan", "dup", 8, {1, 2, 3}},
                          {"neighbor_alltoall", "ring", 8, {0, 1}},
                          {"comm_split", "world", 8, {0, 1, 3}},
                          {"comm_dup", "dup", 8, {0, 1, 2}}});
}

TEST(BlockedCalls, InsideOfCollectivesOfAnIntercommunicatorLeadToTheRankThatIsMissing) {
  expect_calls(ranks(4), {{"barrier", "between", 8, {0, 1, 2}},
                          {"bcast", "between", 2'000'000, {0, 1}},
                          {"allreduce", "between", 8, {0, 1, 3}},
                          {"intercomm_create", "dup", 8, {0, 1, 2}},
                          {"intercomm_merge", "between", 8, {1, 2, 3}}});
}

TEST(BlockedCalls, InsideOfCollectivesOfEightLeadToTheRankThatIsMissing) {
  expect_calls(ranks(8), {{"barrier", "world", 8, {0, 1, 2, 3, 4, 6, 7}},
                          {"allreduce", "world", 2'000'000, {1, 2, 3, 4, 5, 6, 7}}});
}

TEST(BlockedCalls, OfEachKindSayWhereTheyWereCalled) {
  expect_calls(ranks(3), {{"ibarrier", "world", 8, {0, 1}},
                          {"ibcast", "dup", 8, {1, 2}},
                          {"iallreduce", "world", 8, {0, 2}},
                          {"ialltoall", "world", 8, {0, 2}},
                          {"igather", "world", 8, {0}},
                          {"iscan", "reversed", 8, {0, 1}},
                          {"test_loop", "world", 8, {0, 1}},
                          {"testany_loop", "dup", 8, {1}},
                          {"iprobe_loop", "world", 8, {2}},
                          {"win_fence", "world", 8, {0, 1}},
                          {"win_lock", "world", 8, {1, 2}},
                          {"file_open", "world", 8, {0, 1}},
                          {"file_write_all", "dup", 8, {0, 2}}});
}

/// Debian's MPICH shows no queues. What a rank is in is all that there is to say.
TEST(BlockedCalls, OfMpichSayWhereTheyWereCalled) {
  MQBRIDGE_SKIP_IF_LACKING(lacking_debian_mpich());
  expect_call_sites(debian_mpich_job("mpi_calls", {}, 3), {{"recv", "dup", 8, {0, 2}},
                                                           {"send", "world", 100'000, {1}},
                                                           {"ssend", "reversed", 8, {0, 1}},
                                                           {"rsend", "world", 100'000, {0, 2}},
                                                           {"sendrecv", "world", 100'000, {1, 2}},
                                                           {"probe", "reversed", 8, {0}},
                                                           {"mprobe", "dup", 8, {1, 2}},
                                                           {"wait", "world", 8, {0, 2}},
                                                           {"waitall", "dup", 8, {0, 1}},
                                                           {"waitany", "reversed", 8, {0, 2}},
                                                           {"waitsome", "world", 8, {1}},
                                                           {"barrier", "world", 8, {0, 1}},
                                                           {"bcast", "dup", 8, {1, 2}},
                                                           {"gather", "world", 8, {0}},
                                                           {"allgather", "reversed", 8, {0, 1}},
                                                           {"alltoall", "dup", 8, {0, 1}},
                                                           {"reduce", "world", 8, {0}},
                                                           {"allreduce", "reversed", 8, {0, 2}},
                                                           {"reduce_scatter", "world", 8, {0, 1}},
                                                           {"scan", "world", 8, {1, 2}},
                                                           {"comm_dup", "dup", 8, {0, 1}},
                                                           {"comm_split", "world", 8, {0, 1}},
                                                           {"ibarrier", "world", 8, {0, 1}},
                                                           {"iallreduce", "world", 8, {0, 2}},
                                                           {"test_loop", "world", 8, {0, 1}},
                                                           {"iprobe_loop", "world", 8, {2}},
                                                           {"win_fence", "world", 8, {0, 1}},
                                                           {"win_lock", "world", 8, {1, 2}},
                                                           {"file_open", "world", 8, {0, 1}},
                                                           {"file_write_all", "dup", 8, {0, 2}}});
}

} // namespace
} // namespace mqbridge::e2e
