// What is read again from MPICH's own lists and objects, on four platforms.

#include "host/mpi/mpi_support.h"
#include "host/mpi/mpich/mpich_communicators.h"
#include "host/mpi/mpich/mpich_process.h"
#include "host/mpi/mpich/mpich_repairs.h"
#include "host/mpi/plausible.h"
#include "tests/mpi/fake_mpich.h"

#include <gmock/gmock.h>
#include <tuple>

namespace mqbridge {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

using Ranks = std::vector<std::int64_t>;

class Mpich : public testing::TestWithParam<Platform> {
protected:
  void repaired() {
    const auto done = mpich.repair();
    ASSERT_TRUE(done) << done.error().message;
  }
  const Operation& only(OpClass op_class, std::size_t communicator = 0) {
    EXPECT_THAT(mpich.communicators.at(communicator).queue(op_class).operations, SizeIs(1));
    return mpich.communicators.at(communicator).queue(op_class).operations.at(0);
  }

  FakeMpich mpich{GetParam(), MpichVersion::v4_0};
  std::size_t world = mpich.communicator("MPI_COMM_WORLD", 1, {0, 1, 2, 3});
};

INSTANTIATE_TEST_SUITE_P(, Mpich, testing::ValuesIn(test_platforms()),
                         [](const auto& of) { return platform_name(of.param); });

TEST_P(Mpich, ElementsOfABasicDatatypeBecomeBytes) {
  struct Case {
    std::uint64_t handle;
    std::uint64_t count;
    std::int64_t bytes;
  };
  const Case cases[] = {{0x4c00010d, 7, 7},       // MPI_BYTE
                        {0x4c000405, 1000, 4000}, // MPI_INT
                        {0x4c00080b, 0, 0},       // MPI_DOUBLE
                        {0x4c00100c, 3, 48}};     // MPI_LONG_DOUBLE
  for (const auto& [handle, count, bytes] : cases) {
    for (const OpClass op_class : {OpClass::send, OpClass::receive}) {
      FakeMpich process(GetParam(), MpichVersion::v4_0);
      process.communicator("MPI_COMM_WORLD", 0, {0});
      process.operation(op_class, 0, {.count = count, .datatype = handle});
      ASSERT_TRUE(process.repair());
      const auto& result = process.communicators[0].queue(op_class).operations.at(0);
      EXPECT_EQ(result.length.value, bytes);
      EXPECT_EQ(result.length.unit, LengthUnit::bytes);
      EXPECT_EQ(result.count, static_cast<std::int64_t>(count));
      if (op_class == OpClass::send) {
        EXPECT_EQ(result.actual->length, bytes);
      }
    }
  }
}

TEST_P(Mpich, ADatatypeOfTheProgramsOwnSaysItsSize) {
  constexpr std::uint64_t indirect = 0xcc001002;
  const auto object = mpich.datatype(indirect, 24);
  mpich.operation(OpClass::receive, world,
                  {.count = 2, .datatype = indirect, .datatype_object = object});
  repaired();
  EXPECT_EQ(only(OpClass::receive).length.value, 48);
  EXPECT_EQ(only(OpClass::receive).length.unit, LengthUnit::bytes);
  EXPECT_THAT(only(OpClass::receive).repairs, Contains(Repair::length));
}

TEST_P(Mpich, TheFirstDatatypesOfAProgramStandInAnArray) {
  constexpr std::uint64_t third = 0x8c000002;
  const auto size = (*mpich.types->find("MPIR_Datatype"))->size;
  const auto array = mpich.images.find_symbol("MPIR_Datatype_direct")->address.value;
  mpich.datatype_at(array + 2 * size, third, 40);
  mpich.operation(OpClass::send, world, {.count = 3, .datatype = third});
  repaired();
  EXPECT_EQ(only(OpClass::send).length.value, 120);
}

TEST_P(Mpich, ADatatypeThatIsNotKnownLeavesElements) {
  constexpr std::uint64_t handle = 0xcc001002;
  const auto other = mpich.datatype(0xcc001003, 24);
  const std::pair<std::uint64_t, std::uint64_t> cases[] = {
      {handle, 0},     {handle, other},     {handle, 0x66660000},
      {0x8c00ffff, 0}, {0x0c000000, other}, {0x84000405, other},
      {0, 0}};
  std::int64_t tag = 0;
  for (const auto& [datatype, object] : cases)
    mpich.operation(OpClass::receive, world,
                    {.tag = tag++, .count = 2, .datatype = datatype, .datatype_object = object});
  repaired();
  for (const auto& each : mpich.communicators[world].queue(OpClass::receive).operations) {
    EXPECT_EQ(each.length.value, 2) << each.raw.actual_tag;
    EXPECT_EQ(each.length.unit, LengthUnit::elements) << each.raw.actual_tag;
  }
}

TEST_P(Mpich, ACountBeyondAllBoundsIsNoLength) {
  if (GetParam().pointer_size == 4)
    return; // there every product fits
  mpich.operation(OpClass::receive, world,
                  {.count = std::uint64_t{1} << 62, .datatype = 0x4c000405});
  repaired();
  EXPECT_EQ(only(OpClass::receive).length.unit, LengthUnit::elements);
}

TEST_P(Mpich, AnUnexpectedMessageHasTheBytesThatItsEnvelopeAnnounced) {
  const std::uint64_t announced = 3'000'000'000 + (std::uint64_t{5} << 32);
  mpich.operation(OpClass::unexpected, world,
                  {.tag = 3, .rank = 2, .bytes = announced, .system_buffer = 0x12340});
  repaired();
  const auto& result = only(OpClass::unexpected);
  EXPECT_EQ(result.length.value, static_cast<std::int64_t>(announced));
  EXPECT_EQ(result.length.unit, LengthUnit::bytes);
  EXPECT_EQ(result.buffer, TargetAddress{0x12340});
  EXPECT_TRUE(result.system_buffer);
  EXPECT_FALSE(result.actual);
  EXPECT_EQ(result.peer.global_rank, 2);
}

TEST_P(Mpich, TheStatusIsThatOfTheCounterThatCounts) {
  mpich.operation(OpClass::send, world, {.counter = 1}).status = OpStatus::complete;
  repaired();
  EXPECT_EQ(only(OpClass::send).status, OpStatus::pending);
  EXPECT_THAT(only(OpClass::send).repairs, Contains(Repair::status));
}

TEST_P(Mpich, APersistentSendIsInactiveUntilItIsStarted) {
  for (const MpichVersion version : {MpichVersion::v4_0, MpichVersion::v4_1}) {
    FakeMpich process(GetParam(), version);
    const auto all = process.communicator("MPI_COMM_WORLD", 0, {0, 1});
    const std::uint64_t copy = process.put_request({.counter = 1});
    const std::uint64_t copy_gone = process.put_request({.counter = 0});
    struct Case {
      MpichRequest request;
      OpStatus status;
      Delivery delivery;
    };
    const Case cases[] = {
        {{.counter = 0, .kind = 3, .own_counter = true}, OpStatus::inactive, Delivery::not_known},
        {{.counter = 1, .kind = 3, .real_request = copy}, OpStatus::pending, Delivery::not_known},
        {{.counter = 0, .kind = 3, .real_request = copy}, OpStatus::complete, Delivery::not_known},
        // MPI_Bsend_init
        {{.counter = 0, .kind = 3, .real_request = copy, .own_counter = true},
         OpStatus::complete,
         Delivery::undelivered},
        {{.counter = 0, .kind = 3, .real_request = copy_gone, .own_counter = true},
         OpStatus::complete,
         Delivery::delivered},
        // MPI_Isend: nothing of it is persistent
        {{.counter = 0, .kind = 1, .own_counter = true}, OpStatus::complete, Delivery::not_known},
    };
    for (const Case& one : cases)
      process.operation(OpClass::send, all, one.request);
    ASSERT_TRUE(process.repair());
    const auto& sends = process.communicators[0].queue(OpClass::send).operations;
    for (std::size_t i = 0; i < std::size(cases); ++i) {
      EXPECT_EQ(sends[i].status, cases[i].status) << i;
      EXPECT_EQ(sends[i].delivery, cases[i].delivery) << i;
      EXPECT_EQ(sends[i].actual.has_value(), cases[i].status != OpStatus::inactive) << i;
    }
  }
}

TEST_P(Mpich, APersistentSendOfWhichNotAllIsKnownIsNotSaidToBeComplete) {
  mpich.operation(OpClass::send, world, {.counter = 0, .kind = 3, .own_counter = true});
  TypeLayout without_union = **mpich.types->find("MPIR_Request");
  std::erase_if(without_union.fields, [](const TypeField& field) { return field.name == "u"; });
  mpich.types->add(without_union);
  ASSERT_TRUE(mpich.repair());
  EXPECT_EQ(mpich.communicators[0].queue(OpClass::send).operations[0].status, OpStatus::unknown);
}

TEST_P(Mpich, PeersAreTranslatedByTheirCommunicator) {
  const auto row = mpich.communicator("row", 1, {3, 1});
  mpich.operation(OpClass::send, row, {.tag = 5, .rank = 0});
  mpich.operation(OpClass::receive, row, {.tag = 5, .rank = 0});
  repaired();
  EXPECT_EQ(mpich.communicators[world].group, (Ranks{0, 1, 2, 3}));
  EXPECT_EQ(mpich.communicators[row].group, (Ranks{3, 1}));
  EXPECT_EQ(only(OpClass::receive, row).peer.global_rank, 3);
  EXPECT_EQ(only(OpClass::send, row).actual->global_rank, 3);
}

TEST_P(Mpich, WildcardsStayWildcards) {
  mpich.operation(OpClass::receive, world, {.tag = -1, .rank = -2});
  repaired();
  EXPECT_TRUE(only(OpClass::receive).peer.any);
  EXPECT_FALSE(only(OpClass::receive).peer.global_rank);
  EXPECT_EQ(only(OpClass::receive).length.unit, LengthUnit::bytes);
}

TEST_P(Mpich, ARankBeyond16BitsIsWhole) {
  // Fields of 32 bits, as configure --with-ch3-rank-bits=32 makes them.
  mpich.types->add("MPIDI_Message_match_parts_t",
                   {{"tag", 0, 4}, {"rank", 0, 4}, {"context_id", 0, 2}});
  mpich.types->add("MPIDI_Message_match", {{"parts", 0, 16}});
  mpich.types->add("MPIDI_Request", {{"match", 0, 16},
                                     {"user_count", 0, 4},
                                     {"datatype", 0, 4},
                                     {"datatype_ptr", 0, 4},
                                     {"tmpbuf", 0, 4}});
  mpich.operation(OpClass::receive, world, {.rank = 40'000});
  repaired();
  EXPECT_EQ(only(OpClass::receive).peer.local_rank, 40'000);
  EXPECT_FALSE(only(OpClass::receive).peer.any);
  EXPECT_THAT(only(OpClass::receive).repairs, Contains(Repair::local_rank));
}

TEST_P(Mpich, AFilterThatDroppedOperationsDoesNotShiftTheOthers) {
  for (std::int64_t tag = 0; tag < 6; ++tag)
    mpich.operation(OpClass::receive, world,
                    {.tag = tag, .count = static_cast<std::uint64_t>(tag) + 1});
  auto& operations = mpich.communicators[world].queue(OpClass::receive).operations;
  erase_if(operations, [](const Operation& each) { return each.raw.actual_tag % 2 == 0; });
  repaired();
  for (const Operation& each : operations)
    EXPECT_EQ(each.length.value, each.raw.actual_tag + 1);
  EXPECT_THAT(operations, SizeIs(3));
}

TEST_P(Mpich, TheSidesOfAnIntercommunicator) {
  const auto inter = mpich.communicator("between", 0, {0, 2, 3}); // the remote side
  const auto local = mpich.communicator("", 0, {1});
  mpich.set(mpich.object(inter), "MPIR_Comm", "comm_kind", 1);
  mpich.set(mpich.object(inter), "MPIR_Comm", "local_size", 1);
  mpich.set(mpich.object(inter), "MPIR_Comm", "local_comm", mpich.object(local));
  mpich.set_table(inter, "local_vcrt", mpich.table_of(local));
  mpich.operation(OpClass::receive, inter, {.rank = 2});
  repaired();
  ASSERT_THAT(mpich.communicators, SizeIs(2)); // MPICH's own copy of the local side has gone
  EXPECT_EQ(mpich.communicators[1].name, "between");
  EXPECT_EQ(mpich.communicators[1].size, 1);
  EXPECT_EQ(mpich.communicators[1].group, Ranks{1});
  EXPECT_EQ(mpich.communicators[0].kind, CommunicatorKind::intra);
  EXPECT_EQ(mpich.communicators[1].kind, CommunicatorKind::inter);
  EXPECT_EQ(mpich.communicators[1].remote.ranks, (Ranks{0, 2, 3}));
  EXPECT_EQ(only(OpClass::receive, 1).peer.local_rank, 2);
  EXPECT_EQ(only(OpClass::receive, 1).peer.global_rank, 3);
}

/// What one side of an intercommunicator sends with is what the other one receives with.
TEST_P(Mpich, BothSidesOfAnIntercommunicatorHaveTheSameContext) {
  const auto here = mpich.communicator("", 0, {1});
  const auto there = mpich.communicator("", 0, {1});
  for (const auto& [which, sends, receives] :
       {std::tuple(here, 96, 112), std::tuple(there, 112, 96)}) {
    mpich.set(mpich.object(which), "MPIR_Comm", "context_id", static_cast<std::uint64_t>(sends));
    mpich.set(mpich.object(which), "MPIR_Comm", "recvcontext_id",
              static_cast<std::uint64_t>(receives));
    mpich.set(mpich.object(which), "MPIR_Comm", "comm_kind", 1);
  }
  repaired();
  EXPECT_TRUE(mpich.communicators[here].context);
  EXPECT_EQ(mpich.communicators[here].context, mpich.communicators[there].context);
  EXPECT_NE(mpich.communicators[here].context, mpich.communicators[world].context);
}

TEST_P(Mpich, TheWorldIsKnownByItsContextWhateverItsName) {
  FakeMpich renamed(GetParam(), MpichVersion::v4_0);
  renamed.communicator("everybody", 1, {0, 1, 2, 3});
  const auto other = renamed.communicator("MPI_COMM_WORLD", 0, {1, 0});
  ASSERT_TRUE(renamed.repair());
  const auto& support = support_of("mpich");
  EXPECT_TRUE(support.is_world(renamed.communicators[0]));
  EXPECT_FALSE(support.is_world(renamed.communicators[other]));
  EXPECT_EQ(renamed.communicators[0].group, (Ranks{0, 1, 2, 3}));
  EXPECT_EQ(renamed.communicators[other].group, (Ranks{1, 0}));
  EXPECT_FALSE(renamed.communicators[0].named_by_mpi || renamed.communicators[other].named_by_mpi);
  EXPECT_FALSE(doubt_without_world(renamed.communicators, support, false));
  renamed.communicators.erase(renamed.communicators.begin());
  EXPECT_TRUE(doubt_without_world(renamed.communicators, support, false));
}

/// A program may give that name to its own.
TEST_P(Mpich, WhatOnlyHasTheNameOfAnInternalOneIsShown) {
  mpich.communicator("", 1, {0, 1});
  const auto own = mpich.communicator("own", 1, {0, 1});
  mpich.communicators[own].name = "MPI_ICOMM_WORLD";
  repaired();
  EXPECT_THAT(mpich.communicators, SizeIs(3));
  EXPECT_EQ(mpich.communicators[1].name, "") << "what the DLL says is not there";
  EXPECT_TRUE(mpich.communicators[1].named_by_mpi);
  EXPECT_FALSE(mpich.communicators[own].named_by_mpi);
}

TEST_P(Mpich, WhatItMadeForItselfIsLeftOutUnlessSomethingIsQueuedThere) {
  const auto node = mpich.communicator("", 0, {1, 2});
  const auto roots = mpich.communicator("", 0, {1, 3});
  mpich.communicator("MPI_ICOMM_WORLD", 1, {0, 1, 2, 3});
  mpich.communicator("", 0, {1}); // the program's, without a name
  mpich.set(mpich.object(world), "MPIR_Comm", "node_comm", mpich.object(node));
  mpich.set(mpich.object(world), "MPIR_Comm", "node_roots_comm", mpich.object(roots));
  mpich.operation(OpClass::receive, roots, {});
  repaired();
  std::vector<Ranks> groups;
  for (const auto& communicator : mpich.communicators)
    groups.push_back(communicator.group.value_or(Ranks()));
  EXPECT_THAT(groups, ElementsAre(Ranks{0, 1, 2, 3}, Ranks{1, 3}, Ranks{1}));
}

TEST_P(Mpich, TheFirstRanksOfACommunicatorShareItsTable) {
  const auto pair = mpich.communicator("pair", 1, {0, 1});
  mpich.set_table(pair, "vcrt", mpich.table_of(world));
  repaired();
  EXPECT_EQ(mpich.communicators[pair].group, (Ranks{0, 1}));
}

TEST_P(Mpich, ATableThatIsNotQuiteRightIsNoGroup) {
  const auto stranger = mpich.communicator("of another world", 0, {1, 77});
  const auto misplaced = mpich.communicator("not me", 0, {2, 1});
  const auto beyond = mpich.communicator("not in it", 5, {1, 2});
  const auto unread = mpich.communicator("unread", 0, {1, 2});
  const auto another = mpich.communicator("another size", 0, {1, 2});
  const auto twice = mpich.communicator("one of them twice", 0, {1, 2, 2});
  mpich.communicators[another].size = 3;
  mpich.set_table(unread, "vcrt", 0x66660000);
  repaired();
  EXPECT_TRUE(mpich.communicators[world].group);
  for (const auto each : {stranger, misplaced, beyond, unread, another, twice})
    EXPECT_FALSE(mpich.communicators[each].group) << mpich.communicators[each].name;
}

/// Many communicators of one table have a copy each.
TEST_P(Mpich, AllGroupsTogetherAreBounded) {
  for (const char* name : {"first", "second", "third"})
    mpich.set_table(mpich.communicator(name, 1, {0, 1}), "vcrt", mpich.table_of(world));
  mpich.write();
  const auto layout = mpich::find_layout({mpich.images, mpich.memory, GetParam()});
  ASSERT_TRUE(layout);
  ASSERT_TRUE(mpich::correct_communicators(mpich.communicators, *layout,
                                           {mpich.images, mpich.memory, GetParam()}, 4 + 2 + 1));
  EXPECT_EQ(mpich.communicators[world].group, (Ranks{0, 1, 2, 3}));
  EXPECT_EQ(mpich.communicators[1].group, (Ranks{0, 1}));
  EXPECT_FALSE(mpich.communicators[2].group);
  EXPECT_FALSE(mpich.communicators[3].group);
}

/// A size that no communicator of this world has is damage: its table is not even looked at.
TEST_P(Mpich, ACommunicatorLargerThanTheWorldIsNoGroup) {
  FakeMpich without(GetParam(), MpichVersion::v4_0);
  without.communicator("MPI_COMM_WORLD", 1, {0, 1, 2, 3});
  ASSERT_TRUE(without.repair());
  const auto larger = mpich.communicator("larger", 0, {1, 2, 3, 0, 77});
  repaired();
  EXPECT_FALSE(mpich.communicators[larger].group);
  EXPECT_EQ(mpich.memory.calls, without.memory.calls);
}

/// What is no table shows at its beginning: the rest of it, 80 MB here, is not read.
TEST_P(Mpich, AGarbageSizeOfTheWorldCostsLittle) {
  constexpr std::uint64_t garbage = 10'000'000;
  mpich.communicators[world].size = garbage;
  mpich.set(mpich.table_of(world), "MPIR_Group", "size", garbage);
  repaired();
  EXPECT_FALSE(mpich.communicators[world].group);
  EXPECT_LT(mpich.memory.bytes_asked, std::uint64_t{1} << 20);
}

TEST_P(Mpich, TheWorldIsNoIntercommunicatorWhateverItsMemorySays) {
  mpich.set(mpich.object(world), "MPIR_Comm", "comm_kind", 1);
  mpich.set(mpich.object(world), "MPIR_Comm", "local_size", 10'000'000);
  repaired();
  EXPECT_EQ(mpich.communicators[world].size, 4);
  EXPECT_EQ(mpich.communicators[world].group, (Ranks{0, 1, 2, 3}));
}

TEST_P(Mpich, AWorldWithOneConnectionTwiceTranslatesNothing) {
  FakeMpich process(GetParam(), MpichVersion::v4_0);
  process.communicator("MPI_COMM_WORLD", 0, {0, 1, 1});
  ASSERT_TRUE(process.repair());
  EXPECT_FALSE(process.communicators[0].group);
}

TEST_P(Mpich, AListThatRunsInCirclesEnds) {
  mpich.operation(OpClass::receive, world, {.tag = 1, .count = 5});
  mpich.set_next_of_last(OpClass::receive, mpich.last_of(OpClass::receive));
  auto& operations = mpich.communicators[world].queue(OpClass::receive).operations;
  operations.push_back(operations[0]); // the DLL went round
  repaired();
  EXPECT_EQ(operations.at(0).length.unit, LengthUnit::bytes);
  if (GetParam().byte_order == ByteOrder::little) {
    EXPECT_EQ(operations.at(1).length.unit, LengthUnit::elements);
  }
}

TEST_P(Mpich, WhatItsListsDoNotHaveIsLeftOutWhereTheDllReadsHalves) {
  mpich.operation(OpClass::send, world, {.tag = 1});
  mpich.communicators[world].queue(OpClass::send).operations.emplace_back().raw.actual_tag = 2;
  repaired();
  const Queue& queue = mpich.communicators[world].queue(OpClass::send);
  const bool big = GetParam().byte_order == ByteOrder::big;
  EXPECT_EQ(queue.state, big ? QueueState::error : QueueState::available);
  EXPECT_THAT(queue.operations, SizeIs(big ? 1 : 2));
}

TEST_P(Mpich, MissingTypesLeaveElements) {
  mpich.operation(OpClass::receive, world, {.count = 7});
  mpich.operation(OpClass::unexpected, world, {.bytes = 7});
  mpich.write();
  FakeMpich without(GetParam(), MpichVersion::v4_0);
  *without.types = FakeTypes();
  ASSERT_TRUE(mpich::repair(mpich.communicators, {without.images, mpich.memory, GetParam()}));
  if (GetParam().byte_order == ByteOrder::big)
    return; // left out: see above
  EXPECT_EQ(only(OpClass::receive).length.value, 7);
  EXPECT_EQ(only(OpClass::receive).length.unit, LengthUnit::elements);
  EXPECT_FALSE(only(OpClass::unexpected).length.value);
  EXPECT_EQ(only(OpClass::unexpected).length.unit, LengthUnit::unknown);
}

TEST_P(Mpich, ALostConnectionIsTheError) {
  mpich.operation(OpClass::receive, world, {});
  mpich.memory.fail_with({"connect.lost", "gone", ""});
  const auto done = mpich.repair();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "connect.lost");
}

TEST_P(Mpich, ManyOperationsCostOneRoundTripForTheirRequests) {
  for (int i = 0; i < 1000; ++i)
    mpich.operation(OpClass::receive, world, {.tag = i});
  repaired();
  // One for each element of the list, as the DLL did; the rest is read together.
  EXPECT_LE(mpich.memory.calls, 1000 + 10);
}

TEST_P(Mpich, From41OnAllListsHaveElementsOfTheirOwn) {
  FakeMpich process(GetParam(), MpichVersion::v4_1);
  process.communicator("MPI_COMM_WORLD", 0, {0, 1});
  for (const OpClass op_class : op_classes)
    process.operation(
        op_class, 0,
        {.tag = 9, .rank = 1, .count = 3, .datatype = 0x4c000405, .counter = 0, .bytes = 12});
  ASSERT_TRUE(process.repair());
  for (const OpClass op_class : op_classes) {
    const auto& result = process.communicators[0].queue(op_class).operations.at(0);
    EXPECT_EQ(result.length.value, 12);
    EXPECT_EQ(result.length.unit, LengthUnit::bytes);
    EXPECT_EQ(result.status, OpStatus::complete); // the DLL says pending, always
    EXPECT_EQ(result.peer.global_rank, 1);
  }
}

TEST_P(Mpich, StateIsWhatItKeepsForDebuggers) {
  struct Case {
    std::uint64_t debug_state, first;
    MpiState state;
  };
  const Case cases[] = {{0, 0, MpiState::not_initialized},
                        {0, 0x1000, MpiState::not_initialized}, // in MPI_Init
                        {1, 0x1000, MpiState::initialized},
                        {2, 0x1000, MpiState::initialized}, // in MPI_Abort
                        {1, 0, MpiState::finalized}};
  for (const auto& [debug_state, first, state] : cases) {
    FakeMpich process(GetParam(), MpichVersion::v4_0);
    process.set_symbol("MPIR_debug_state", debug_state, 4);
    process.set_symbol("MPIR_All_communicators", 0, 16);
    const auto list = process.images.find_symbol("MPIR_All_communicators")->address.value;
    process.set(list, "MPIR_Comm_list", "head", first);
    process.write();
    EXPECT_EQ(mpich::read_state({process.images, process.memory, GetParam()}).value(), state);
  }
  FakeMemory nothing;
  EXPECT_EQ(mpich::read_state({mpich.images, nothing, GetParam()}).value(), MpiState::unknown);
}

TEST(MpichDevice, IsNamedAndWhatItHidesIsSaid) {
  struct Case {
    MpichVersion version;
    std::string text;
    std::optional<std::string> name;
    bool partial;
  };
  const Case cases[] = {{MpichVersion::v4_0, "ch3:nemesis", "ch3:nemesis", false},
                        {MpichVersion::v4_0, "ch4:ucx", "ch4:ucx", true},
                        {MpichVersion::v4_1, "ch4:ofi", "ch4:ofi", false},
                        {MpichVersion::v4_0, "\x1b[2J", std::nullopt, false},
                        {MpichVersion::v4_0, "", std::nullopt, false}};
  for (const auto& each : cases) {
    FakeMpich process(Platform(), each.version);
    const auto address = process.images.find_symbol("MPII_Version_device")->address;
    std::string text = each.text;
    text.resize(32);
    process.memory.put(address, {text.begin(), text.end()});
    const auto device = mpich::read_device({process.images, process.memory, Platform()});
    ASSERT_TRUE(device);
    EXPECT_EQ(device->name, each.name);
    EXPECT_EQ(device->warning.has_value(), each.partial) << each.text;
  }
  FakeMpich process(Platform(), MpichVersion::v4_0);
  EXPECT_FALSE(
      mpich::read_device({process.images, process.memory, Platform()})->name); // unreadable
}

TEST(MpichTypes, ThoseThatItsDllNeedsAreNamed) {
  FakeMpich process(Platform(), MpichVersion::v4_0);
  const auto find = [&](std::string_view name) { return process.images.find_type(name); };
  EXPECT_THAT(mpich::missing_types(find).value(), IsEmpty());
  *process.types = FakeTypes();
  EXPECT_THAT(mpich::missing_types(find).value(),
              ElementsAre("MPIR_Comm_list", "MPIR_Comm", "MPIR_Request"));
}

} // namespace
} // namespace mqbridge
