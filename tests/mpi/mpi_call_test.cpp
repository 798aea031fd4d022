#include "host/mpi/mpi_call.h"

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

TEST(MpiCall, WaitsForOneOperationOrForMore) {
  for (const auto* const call : {"MPI_Recv", "MPI_Ssend", "MPI_Probe", "MPI_Mprobe", "MPI_Wait"})
    EXPECT_TRUE(waits_for_one(call)) << call;
  for (const auto* const call :
       {"MPI_Waitall", "MPI_Waitany", "MPI_Sendrecv", "MPI_Test", "MPI_Barrier", "MPI_Irecv"})
    EXPECT_FALSE(waits_for_one(call)) << call;
}

TEST(MpiCall, WaitsForOperationsThatFitIt) {
  EXPECT_TRUE(fits(CallKind::receive, OpClass::receive, OpKind::unknown));
  EXPECT_FALSE(fits(CallKind::receive, OpClass::receive, OpKind::mprobe));
  EXPECT_FALSE(fits(CallKind::receive, OpClass::send, OpKind::send));
  EXPECT_TRUE(fits(CallKind::send, OpClass::send, OpKind::unknown));
  EXPECT_FALSE(fits(CallKind::send, OpClass::receive, OpKind::receive));
  EXPECT_TRUE(fits(CallKind::probe, OpClass::receive, OpKind::probe));
  EXPECT_FALSE(fits(CallKind::probe, OpClass::receive, OpKind::mprobe));
  EXPECT_FALSE(fits(CallKind::mprobe, OpClass::receive, OpKind::receive));
  EXPECT_TRUE(fits(CallKind::wait_all, OpClass::send, OpKind::send));
  EXPECT_FALSE(fits(CallKind::wait_all, OpClass::receive, OpKind::probe));
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
