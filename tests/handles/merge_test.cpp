// What is taken of a second reader of the same handle (dll/handles/merge.c).

extern "C" {
#include "dll/handles/merge.h"
}

#include <array>
#include <cstring>
#include <gtest/gtest.h>

namespace mqbridge {
namespace {

/// As the MPI's own memory has it: not where it was made.
request_answer own_receive() {
  request_answer answer = {};
  answer.more.kind = MPIDBG_REQUEST_RECEIVE;
  answer.more.state = MPIDBG_STATE_ACTIVE;
  answer.more.peer = 3;
  answer.more.tag = 17;
  answer.more.known = MPIDBG_KNOWN_PEER | MPIDBG_KNOWN_TAG;
  return answer;
}

/// As a recorder has it.
request_answer recorded_receive() {
  request_answer answer = own_receive();
  answer.more.state = MPIDBG_STATE_UNKNOWN;
  answer.more.site = 0x1234;
  answer.more.known |= MPIDBG_KNOWN_SITE;
  std::strcpy(answer.more.call, "MPI_Irecv");
  return answer;
}

TEST(MergedRequests, HaveWhatBothKnow) {
  auto answer = own_receive();
  const auto other = recorded_receive();
  handles_merge_request(&answer, &other);
  EXPECT_EQ(answer.more.site, 0x1234U);
  EXPECT_STREQ(answer.more.call, "MPI_Irecv");
  EXPECT_EQ(answer.more.state, MPIDBG_STATE_ACTIVE);
}

TEST(MergedRequests, HaveNothingOfOneThatHadTheHandleBefore) {
  const auto expect_nothing = [](auto change) {
    auto answer = own_receive();
    auto before = recorded_receive();
    change(before.more);
    handles_merge_request(&answer, &before);
    EXPECT_EQ(answer.more.known, own_receive().more.known);
    EXPECT_STREQ(answer.more.call, "");
    EXPECT_EQ(answer.more.kind, MPIDBG_REQUEST_RECEIVE);
    EXPECT_EQ(answer.more.tag, 17);
  };
  expect_nothing([](auto& more) { more.tag = 18; });
  expect_nothing([](auto& more) { more.peer = 4; });
  expect_nothing([](auto& more) { more.kind = MPIDBG_REQUEST_COLLECTIVE; });
}

/// MPICH's memory has the message's source and tag in a receive that has met it.
TEST(MergedRequests, AskForAnybodyWhereTheCallDid) {
  auto answer = own_receive();
  auto other = recorded_receive();
  other.more.peer = MPIDBG_ANY_SOURCE;
  other.more.tag = MPIDBG_ANY_TAG;
  handles_merge_request(&answer, &other);
  EXPECT_STREQ(answer.more.call, "MPI_Irecv");
  EXPECT_EQ(answer.more.peer, MPIDBG_ANY_SOURCE);
  EXPECT_EQ(answer.more.tag, MPIDBG_ANY_TAG);
}

TEST(MergedRequests, AreOfTheKindThatSaysMore) {
  const std::array kinds = {std::pair{MPIDBG_REQUEST_GENERALIZED, MPIDBG_REQUEST_IO},
                            std::pair{MPIDBG_REQUEST_COLLECTIVE, MPIDBG_REQUEST_COMM}};
  for (const auto& [memory, recorded] : kinds) {
    auto answer = own_receive();
    auto other = recorded_receive();
    answer.more.kind = memory;
    other.more.kind = recorded;
    handles_merge_request(&answer, &other);
    EXPECT_EQ(answer.more.kind, recorded);
    EXPECT_EQ(answer.more.site, 0x1234U);
  }
}

comm_answer grid() {
  comm_answer answer = {};
  answer.info.comm_size = 4;
  answer.info.comm_rank = 1;
  answer.more.known = MPIDBG_KNOWN_TOPOLOGY;
  answer.info.comm_bitflags = MPIDBG_COMM_INFO_CARTESIAN;
  return answer;
}

TEST(MergedCommunicators, HaveWhatOneKnowsOfTheReordering) {
  auto answer = grid();
  auto other = grid();
  other.info.comm_bitflags =
      mpidbg_comm_info_bitmap_t(MPIDBG_COMM_INFO_CARTESIAN | MPIDBG_COMM_INFO_TOPO_REORDERED);
  other.more.known |= MPIDBG_KNOWN_REORDERED | MPIDBG_KNOWN_ERRHANDLER;
  other.more.errhandler = 7;
  handles_merge_comm(&answer, &other);
  EXPECT_EQ(answer.info.comm_bitflags, other.info.comm_bitflags);
  EXPECT_NE(answer.more.known & MPIDBG_KNOWN_REORDERED, 0U);
  EXPECT_EQ(answer.more.errhandler, 7U);
}

TEST(MergedCommunicators, HaveNothingOfOneThatHadTheHandleBefore) {
  const auto expect_nothing = [](auto change) {
    auto answer = grid();
    auto before = grid();
    std::strcpy(before.info.comm_name, "row");
    change(before.info);
    handles_merge_comm(&answer, &before);
    EXPECT_STREQ(answer.info.comm_name, "");
    EXPECT_EQ(answer.info.comm_size, 4);
  };
  expect_nothing([](auto& info) { info.comm_size = 2; });
  expect_nothing([](auto& info) { info.comm_rank = 0; });
  expect_nothing([](auto& info) {
    info.comm_bitflags =
        mpidbg_comm_info_bitmap_t(MPIDBG_COMM_INFO_CARTESIAN | MPIDBG_COMM_INFO_INTERCOMM);
  });
}

mpidbg_errhandler_info_t errhandler(int bits, mqs_taddr_t callback = 0x4000) {
  mpidbg_errhandler_info_t info = {};
  info.eh_bitflags = mpidbg_errhandler_info_bitmap_t(MPIDBG_ERRH_INFO_COMMUNICATOR | bits);
  info.eh_callback_func = callback;
  return info;
}

TEST(MergedErrhandlers, AreFreedWhereOneOfBothKnowsIt) {
  constexpr int freed = MPIDBG_ERRH_INFO_FREED_HANDLE, unknown = MPIDBG_ERRH_INFO_FREED_NOT_KNOWN;
  for (const auto& [one, other, expected] :
       {std::array{unknown, freed, freed}, std::array{freed, unknown, freed},
        std::array{unknown, 0, 0}, std::array{0, unknown, 0},
        std::array{unknown, unknown, unknown}}) {
    auto info = errhandler(one);
    const auto second = errhandler(other);
    handles_merge_errhandler(&info, &second);
    EXPECT_EQ(info.eh_bitflags & (freed | unknown), expected) << one << " " << other;
  }
}

TEST(MergedErrhandlers, HaveNothingOfOneThatHadTheHandleBefore) {
  auto info = errhandler(MPIDBG_ERRH_INFO_FREED_NOT_KNOWN);
  const auto before = errhandler(MPIDBG_ERRH_INFO_FREED_HANDLE, 0x5000);
  handles_merge_errhandler(&info, &before);
  EXPECT_EQ(info.eh_bitflags,
            int{MPIDBG_ERRH_INFO_COMMUNICATOR} | MPIDBG_ERRH_INFO_FREED_NOT_KNOWN);
}

} // namespace
} // namespace mqbridge
