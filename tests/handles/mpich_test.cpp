// libmqbridge-handles.so over real processes of an MPICH with debug information, without any stub:
// what it says of handles is what the program says that it made (tests/inferiors/handles.c).

#include "tests/e2e/harness/mpich.h"
#include "tests/handles/stopped_rank.h"
#include "tests/support/requirements.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using testing::IsEmpty;
using testing::Not;

/// What the program states, but what debug information of MPICH does not tell: of derived datatypes
/// nothing, and which message a receive has met before that is whole.
HandleFacts as_told(HandleFacts made) {
  for (auto& [handle, facts] : made) {
    facts.erase("reordered"); // MPICH keeps nothing of it
    if (facts.contains("datatype") && facts.at("datatype").contains("pair of ints")) {
      facts.erase("datatype");
      facts.erase("bytes");
    }
    if (facts.contains("state") && facts.at("state").contains("active"))
      for (const auto* key : {"met", "actual_source", "actual_tag"})
        facts.erase(key);
  }
  return made;
}

std::set<std::uint64_t> made_of(const HandleFacts& made, const std::string& kind) {
  std::set<std::uint64_t> handles;
  for (const auto& [handle, facts] : made)
    if (kind_of(handle) == kind && !facts.contains("gone") && !facts.contains("null"))
      handles.insert(handle_of(handle));
  return handles;
}

class MpichHandles : public testing::TestWithParam<int> {};

TEST_P(MpichHandles, AreWhatTheProgramMade) {
  MQBRIDGE_SKIP_IF_LACKING(e2e::lacking_mpich());
  const e2e::MpiJob job(e2e::mpich_job("handles", {}, GetParam()));
  for (int rank = 0; rank < job.ranks(); ++rank) {
    StoppedRank stopped(job.pid(rank), x86_64(), "");
    ToldHandles told(MQBRIDGE_HANDLES_DLL, stopped.space());
    ASSERT_EQ(told.process_code, MPIDBG_SUCCESS);
    const auto made = read_facts(job.directory() / fmt::format("handles.{}", rank));
    ASSERT_THAT(made, Not(IsEmpty()));
    SCOPED_TRACE(fmt::format("rank {}", rank));
    expect_told(told, as_told(made));
    const auto comms = told.list("comm");
    EXPECT_EQ(comms.code, MPIDBG_SUCCESS);
    EXPECT_EQ(comms.handles, made_of(made, "comm"));
    const auto errhandlers = told.list("errhandler");
    EXPECT_EQ(errhandlers.code, MPIDBG_SUCCESS);
    auto expected = made_of(made, "errhandler");
    expected.erase(0x14000000);  // MPI_ERRHANDLER_NULL is no object
    expected.insert(0x54000002); // MPICH's own, for C++
    EXPECT_EQ(errhandlers.handles, expected);
  }
}
INSTANTIATE_TEST_SUITE_P(Ranks, MpichHandles, testing::Values(1, 3));

TEST(MpichHandle, ThatIsNoneIsNone) {
  MQBRIDGE_SKIP_IF_LACKING(e2e::lacking_mpich());
  const e2e::MpiJob job(e2e::mpich_job("handles", {}, 1));
  StoppedRank stopped(job.pid(0), x86_64(), "");
  ToldHandles told(MQBRIDGE_HANDLES_DLL, stopped.space());
  const Facts gone = {{"gone", {"1"}}};
  const Facts not_found = {{"error", {fmt::to_string(int(MPIDBG_ERR_NOT_FOUND))}}};
  constexpr std::uint64_t world = 0x44000000;
  for (const std::uint64_t handle :
       {std::uint64_t{0}, ~std::uint64_t{0}, world + 7, world << 8, std::uint64_t{0x84000008},
        std::uint64_t{0xc4ffffff}, std::uint64_t{0xc7fff000}}) {
    EXPECT_EQ(told.tell("comm", handle), gone) << handle;
    EXPECT_EQ(told.from_fortran("comm", handle & 0xffffffff), std::nullopt) << handle;
  }
  EXPECT_EQ(told.tell("request", world), gone);
  EXPECT_EQ(told.tell("errhandler", world), not_found);
}

/// Memory without the bytes from `from` to `to`.
class Hole final : public Memory {
public:
  Hole(Memory& below, std::uint64_t from, std::uint64_t to) : below_(below), from_(from), to_(to) {}

  Result<void> read_ranges(std::span<MemoryRange> ranges) override {
    if (auto done = below_.read_ranges(ranges); !done)
      return done;
    for (auto& range : ranges)
      for (std::size_t i = 0; i < range.read; ++i)
        if (range.address.value + i >= from_ && range.address.value + i < to_)
          range.read = i;
    return {};
  }

private:
  Memory& below_;
  std::uint64_t from_, to_;
};

// As in a core file that lacks pages.
TEST(MpichHandle, ThatCannotBeReadIsNotTakenForNone) {
  MQBRIDGE_SKIP_IF_LACKING(e2e::lacking_mpich());
  const e2e::MpiJob job(e2e::mpich_job("handles", {}, 1));
  StoppedRank stopped(job.pid(0), x86_64(), "");
  const auto space = stopped.space();
  const Facts unavailable = {{"error", {fmt::to_string(int(MPIDBG_ERR_UNAVAILABLE))}}};
  const auto expect_unavailable = [&](std::string_view array, const std::string& kind,
                                      std::uint64_t handle) {
    const auto symbol = space.images.find_symbol(array);
    ASSERT_TRUE(symbol) << array;
    Hole hole(space.memory, symbol->address.value, symbol->address.value + symbol->size);
    ToldHandles told(MQBRIDGE_HANDLES_DLL, {space.images, hole, space.platform});
    ASSERT_EQ(told.process_code, MPIDBG_SUCCESS);
    EXPECT_EQ(told.tell(kind, handle), unavailable) << array;
    EXPECT_EQ(told.from_fortran(kind, handle), std::nullopt);
    if (kind != "request") {
      EXPECT_EQ(told.list(kind).code, MPIDBG_ERR_UNAVAILABLE);
    }
  };
  expect_unavailable("MPIR_Comm_direct", "comm", 0x84000000);
  expect_unavailable("MPIR_Comm_builtin", "comm", 0x44000000);
  expect_unavailable("MPIR_Errhandler_direct", "errhandler", 0x94000000);
  expect_unavailable("MPIR_Request_direct", "request", 0xac000000);
  ToldHandles told(MQBRIDGE_HANDLES_DLL, space);
  EXPECT_EQ(told.tell("status", 8), unavailable);
}

} // namespace
} // namespace mqbridge
