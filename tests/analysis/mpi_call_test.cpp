#include "host/analysis/mpi_call.h"

#include <gtest/gtest.h>

namespace mqbridge {
namespace {

TEST(MpiCall, WaitsAsTheStandardSays) {
  EXPECT_EQ(kind_of_call("MPI_Recv"), CallKind::receive);
  EXPECT_EQ(kind_of_call("MPI_Sendrecv_replace"), CallKind::exchange);
  EXPECT_EQ(kind_of_call("MPI_Waitsome"), CallKind::wait_any);
  EXPECT_EQ(kind_of_call("MPI_Allreduce"), CallKind::collective);
  EXPECT_EQ(kind_of_call("MPI_Comm_dup"), CallKind::construct);
  EXPECT_EQ(kind_of_call("MPI_Comm_spawn"), CallKind::connect);
  EXPECT_EQ(kind_of_call("MPI_Finalize"), CallKind::finalize);
}

TEST(MpiCall, WhatStartsSomethingReturnsByItself) {
  for (const auto* const call : {"MPI_Irecv", "MPI_Ibarrier", "MPI_Start", "MPI_Comm_rank",
                                 "MPI_Initialized", "MPI_Comm_idup", "MPI_Type_commit"})
    EXPECT_EQ(kind_of_call(call), CallKind::local) << call;
}

TEST(MpiCall, WhatNobodyKnowsIsNotTakenForRunning) {
  for (const auto* const call : {"MPI_Win_fence", "MPI_Get", "MPI_File_read", "MPI_Init",
                                 "MPI_Init_thread", "MPI_Abort", "MPI_Invented_later"})
    EXPECT_EQ(kind_of_call(call), CallKind::unseen) << call;
}

TEST(MpiCall, ACollectiveSaysWhoWaitsForWhom) {
  EXPECT_EQ(kind_of_collective("MPI_Barrier"), CollectiveKind::everybody);
  EXPECT_EQ(kind_of_collective("MPI_Bcast"), CollectiveKind::from_root);
  EXPECT_EQ(kind_of_collective("MPI_Reduce"), CollectiveKind::to_root);
  EXPECT_EQ(kind_of_collective("MPI_Scan"), CollectiveKind::chain);
  EXPECT_EQ(kind_of_collective("MPI_Recv"), CollectiveKind::none);
}

} // namespace
} // namespace mqbridge
