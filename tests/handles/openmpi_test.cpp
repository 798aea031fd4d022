// libmqbridge-handles.so over real Open MPI processes, without any stub: what it says of handles is
// what the program says that it made (tests/inferiors/handles.c).

#include "tests/e2e/harness/mpi_job.h"
#include "tests/handles/stopped_rank.h"
#include "tests/support/host_mpi.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using testing::Contains;
using testing::Key;
using testing::Not;

constexpr const char* amd64_pack = MQBRIDGE_TEST_PACK;

e2e::JobSpec handles(int ranks) {
  e2e::JobSpec spec;
  spec.program = "handles";
  spec.ranks = ranks;
  // So that no rank fetches a message by itself.
  spec.environment = {{"OMPI_MCA_btl_vader_single_copy_mechanism", "none"},
                      {"OMPI_MCA_smsc", "^cma"}};
  return spec;
}

class OpenMpiHandles : public testing::TestWithParam<int> {};

TEST_P(OpenMpiHandles, AreWhatTheProgramMade) {
  expect_told(handles(GetParam()), MQBRIDGE_HANDLES_DLL, x86_64(), amd64_pack);
}
INSTANTIATE_TEST_SUITE_P(Ranks, OpenMpiHandles, testing::Values(1, 3));

// UCX keeps what was asked for to itself.
TEST(OpenMpiHandlesOverUcx, AreNotWrong) {
  auto job = handles(2);
  job.pml = "ucx";
  expect_told(job, MQBRIDGE_HANDLES_DLL, x86_64(), amd64_pack, Told::nothing_wrong);
}

TEST(OpenMpiHandlesOfTwoRanks, HaveAReceiveThatHasMetAMessageWhichIsNotWhole) {
  const e2e::MpiJob job(handles(2));
  int matched = 0;
  for (const auto& [handle, facts] : read_facts(job.directory() / "handles.1"))
    matched += facts.contains("tag") && facts.at("tag").contains("60");
  EXPECT_EQ(matched, 1);
}

class OpenMpiHandleLists : public testing::Test {
protected:
  OpenMpiHandleLists()
      : job(handles(2)), stopped(job.pid(0), x86_64(), amd64_pack),
        told(MQBRIDGE_HANDLES_DLL, stopped.space()),
        made(read_facts(job.directory() / "handles.0")) {}

  /// Those of a kind that the program has made and that are still there.
  std::set<std::uint64_t> made_of(const std::string& kind) const {
    std::set<std::uint64_t> handles;
    for (const auto& [handle, facts] : made)
      if (kind_of(handle) == kind && !facts.contains("gone"))
        handles.insert(handle_of(handle));
    return handles;
  }

  e2e::MpiJob job;
  StoppedRank stopped;
  ToldHandles told;
  HandleFacts made;
};

TEST_F(OpenMpiHandleLists, HaveAllCommunicators) {
  const auto list = told.list("comm");
  EXPECT_EQ(list.code, MPIDBG_SUCCESS);
  EXPECT_THAT(list.handles, testing::IsSupersetOf(made_of("comm")));
  // Open MPI keeps one for itself with each intercommunicator: of its own half.
  EXPECT_EQ(list.handles.size(), made_of("comm").size() + 1);
}

TEST_F(OpenMpiHandleLists, NoCommunicatorIsTakenForFreed) {
  for (const auto& [handle, facts] : made) {
    if (kind_of(handle) != "comm" || facts.contains("gone") || facts.contains("null"))
      continue;
    EXPECT_EQ(told.tell("comm", handle_of(handle))["freed"].contains("1"), facts.contains("freed"))
        << handle;
  }
}

TEST_F(OpenMpiHandleLists, HaveAllErrorHandlers) {
  const auto list = told.list("errhandler");
  EXPECT_EQ(list.code, MPIDBG_SUCCESS);
  auto expected = made_of("errhandler");
  for (const auto handle : list.handles)
    if (!expected.contains(handle)) {
      EXPECT_THAT(told.tell("errhandler", handle)["name"],
                  testing::ElementsAre(test::openmpi_version() < "5" ? "MPI_ERRORS_THROW_EXCEPTIONS"
                                                                     : "MPI_ERRORS_ABORT"));
    }
  EXPECT_THAT(list.handles, testing::IsSupersetOf(expected));
}

TEST_F(OpenMpiHandleLists, OfRequestsAreNeverWhole) {
  const auto list = told.list("request");
  EXPECT_EQ(list.code, MPIDBG_ERR_UNAVAILABLE);
  for (const auto& [handle, facts] : made) {
    if (kind_of(handle) != "request" || facts.contains("gone"))
      continue;
    const bool nowhere = facts.at("kind").contains("generalized") && !facts.contains("fortran");
    EXPECT_EQ(list.handles.contains(handle_of(handle)), !nowhere) << handle;
  }
}

TEST_F(OpenMpiHandleLists, OfRequestsHaveNothingButRequestsInUse) {
  for (const auto handle : told.list("request").handles)
    EXPECT_THAT(told.tell("request", handle), Not(Contains(Key("gone"))));
}

TEST_F(OpenMpiHandleLists, NamesOfPredefinedOnes) {
  const auto names = told.names();
  for (const auto& [handle, facts] : made)
    if (facts.contains("predefined") && facts.at("predefined").contains("1")) {
      EXPECT_EQ(names.at(*facts.at("name").begin()), handle_of(handle));
    }
  EXPECT_EQ(names.size(), 6U);
}

// A status of Fortran has the form of C's; ignored ones are names of common blocks.
TEST_F(OpenMpiHandleLists, StatusesOfFortran) {
  EXPECT_EQ(told.from_fortran("status", 0x1234), 0x1234U);
  for (const char* name : {"mpi_fortran_status_ignore_", "mpi_fortran_statuses_ignore_"}) {
    const auto ignored = told.space.images.find_symbol(name);
    ASSERT_TRUE(ignored);
    EXPECT_EQ(told.from_fortran("status", ignored->address.value), 0U) << name;
  }
}

TEST_F(OpenMpiHandleLists, WhatIsNoHandleIsNone) {
  const auto code_of = [&](const std::string& kind, std::uint64_t handle) {
    return told.tell(kind, handle);
  };
  const std::uint64_t comm = *made_of("comm").begin();
  const std::uint64_t request = *made_of("request").begin();
  const Facts gone = {{"gone", {"1"}}};
  const Facts not_found = {{"error", {fmt::to_string(int(MPIDBG_ERR_NOT_FOUND))}}};
  const Facts unavailable = {{"error", {fmt::to_string(int(MPIDBG_ERR_UNAVAILABLE))}}};
  for (const std::uint64_t handle :
       {std::uint64_t{0}, std::uint64_t{7}, ~std::uint64_t{0}, comm + 8, comm - 8, request + 8}) {
    EXPECT_EQ(code_of("comm", handle), gone) << handle;
    EXPECT_EQ(code_of("errhandler", handle), not_found) << handle;
  }
  EXPECT_EQ(code_of("comm", request), gone);
  EXPECT_EQ(code_of("errhandler", comm), not_found);
  for (const std::uint64_t handle : {std::uint64_t{0}, comm})
    EXPECT_EQ(code_of("request", handle), gone) << handle;
  // Nothing can be read there, and no table has all requests.
  EXPECT_EQ(code_of("request", 7), unavailable);
  EXPECT_EQ(code_of("status", 8), unavailable);
  for (const std::uint64_t fortran : {9999ULL, 0xffffffffULL})
    EXPECT_EQ(told.from_fortran("comm", fortran), std::nullopt);
}

} // namespace
} // namespace mqbridge
