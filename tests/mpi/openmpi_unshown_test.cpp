// What Open MPI's debug DLL does not show, on four platforms: messages that no receive matches,
// what waits on stacks and inside of collectives, and what waits for it.

#include "host/codes.h"
#include "host/mpi/openmpi/collective_tags.h"
#include "host/mpi/openmpi/openmpi_unshown.h"
#include "tests/mpi/fake_ob1.h"

#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using testing::ElementsAre;

constexpr std::uint64_t huge = std::uint64_t{1} << 60;
constexpr std::uint64_t nowhere = 0x10;
constexpr std::int64_t allreduce = -12;
constexpr std::int64_t barrier = -16;
constexpr std::int64_t ibarrier = -30;

/// A connection that is lost after so many reads.
class FailingMemory final : public Memory {
public:
  FailingMemory(Memory& below, int reads) : below_(below), left_(reads) {}

  Result<void> read_ranges(std::span<MemoryRange> ranges) override {
    if (left_-- <= 0)
      return fail("connection.closed", "the stub is gone");
    return below_.read_ranges(ranges);
  }

private:
  Memory& below_;
  int left_;
};

class OpenMpiUnshown : public testing::TestWithParam<Platform> {
protected:
  OpenMpiUnshown() {
    process.communicator(0, 4);
    process.communicator(7, 2);
  }

  void add() {
    auto outcome = openmpi::add_unshown(process.communicators, request, process.space());
    ASSERT_TRUE(outcome) << outcome.error().message;
    lacking = outcome->lacking;
    damage = outcome->damage;
  }
  Queue& queue(OpClass op_class, std::size_t communicator = 0) {
    return process.communicators[communicator].queue(op_class);
  }
  /// A receive that the DLL has listed.
  void list(OpClass op_class, std::uint64_t at) {
    Operation operation;
    operation.request = TargetAddress{at};
    operation.kind = op_class == OpClass::send ? OpKind::send : OpKind::receive;
    operation.tag.value = 1;
    queue(op_class).operations.push_back(std::move(operation));
    ++*queue(op_class).total;
  }

  FakeOb1 process{GetParam()};
  UnshownRequest request{{OpClass::send, OpClass::receive, OpClass::unexpected}};
  std::optional<Error> lacking, damage;
};

INSTANTIATE_TEST_SUITE_P(, OpenMpiUnshown, testing::ValuesIn(test_platforms()),
                         [](const auto& of) { return platform_name(of.param); });

struct Seen {
  std::int64_t peer;
  std::int64_t tag;
  std::int64_t bytes;
  Protocol protocol;
  std::uint32_t sequence;
  bool operator==(const Seen&) const = default;
};

std::vector<Seen> messages_of(const Queue& queue) {
  std::vector<Seen> seen;
  for (const Operation& operation : queue.operations) {
    EXPECT_EQ(operation.source, OpSource::mqbridge);
    EXPECT_EQ(operation.kind, OpKind::message);
    EXPECT_EQ(operation.status, OpStatus::pending);
    seen.push_back({operation.peer.local_rank.value_or(-9), operation.tag.value.value_or(-9),
                    operation.length.value.value_or(-9), operation.protocol,
                    operation.sequence.value_or(9999)});
  }
  return seen;
}

TEST_P(OpenMpiUnshown, MessagesThatNoReceiveMatchesAreListedByPeerInTheirOrder) {
  process.channel(0, 3, 0, 4);
  process.channel(0, 1, 0, 2);
  process.channel(7, 1, 0, 2);
  process.message(0, 3, {17, 400, 0x41, 1});
  process.message(0, 3, {18, 1 << 20, 0x42, 2});
  process.message(0, 3, {0, 2000, 0x41, 3});
  process.message(0, 1, {5, 0, 0x41, 1});
  process.message(7, 1, {9, 70000, 0x43, 1});
  add();
  EXPECT_FALSE(lacking) << lacking->message;
  EXPECT_FALSE(damage) << damage->message;
  EXPECT_THAT(messages_of(queue(OpClass::unexpected)),
              ElementsAre(Seen{1, 5, 0, Protocol::eager, 1}, Seen{3, 17, 400, Protocol::eager, 1},
                          Seen{3, 18, 1 << 20, Protocol::rendezvous, 2},
                          Seen{3, 0, 2000, Protocol::eager, 3}));
  EXPECT_THAT(messages_of(queue(OpClass::unexpected, 1)),
              ElementsAre(Seen{1, 9, 70000, Protocol::rendezvous, 1}));
  EXPECT_EQ(queue(OpClass::unexpected).state, QueueState::available);
  EXPECT_EQ(queue(OpClass::unexpected).total, 4U);
  ASSERT_EQ(queue(OpClass::unexpected, 1).operations.size(), 1U);
  EXPECT_EQ(queue(OpClass::unexpected, 1).operations[0].peer.global_rank, 71);
}

TEST_P(OpenMpiUnshown, MessagesForCommunicatorsThatAreNotThereAreToldByContext) {
  process.stray(9, 1, {17, 400, 0x41, 1});
  process.stray(9, 1, {17, 400, 0x41, 2});
  process.stray(9, 0, {18, 1 << 20, 0x42, 1});
  process.stray(5, 3, {barrier, 0, 0x41, 1});
  add();
  EXPECT_FALSE(damage) << damage->message;
  ASSERT_TRUE(lacking);
  EXPECT_EQ(lacking->code, "queue.no_communicator");
  EXPECT_THAT(lacking->message,
              testing::AllOf(testing::StartsWith("4 messages came for communicators"),
                             testing::EndsWith("1 from 3 tag -16 on context 0x5, 1 from 0 tag 18 "
                                               "on context 0x9, 2 from 1 tag 17 on context 0x9")));
  EXPECT_TRUE(queue(OpClass::unexpected).operations.empty());
}

TEST_P(OpenMpiUnshown, MessagesForCommunicatorsThatAreNotThereAreNotToldWhereNobodyAsks) {
  process.stray(9, 1, {17, 400, 0x41, 1});
  request.op_classes = {OpClass::receive};
  add();
  EXPECT_FALSE(lacking) << lacking->message;
}

TEST_P(OpenMpiUnshown, OfACollectiveAreMessagesByTheirTags) {
  process.channel(0, 1, 0, 3);
  process.message(0, 1, {barrier, 0, 0x41, 1});
  process.message(0, 1, {ibarrier, 0, 0x41, 2});
  add();
  const auto& found = queue(OpClass::unexpected).operations;
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].collective, Collective::barrier);
  EXPECT_EQ(found[1].collective, Collective::nonblocking);
}

TEST_P(OpenMpiUnshown, MessagesBeforeTheirTurnFollowAndSaySo) {
  process.channel(0, 2, 0, 65535);
  process.message(0, 2, {1, 8, 0x41, 65534});
  process.early(0, 2, {{{4, 8, 0x41, 1}, {5, 8, 0x41, 2}, {6, 8, 0x41, 3}}, {{9, 8, 0x41, 9}}});
  add();
  EXPECT_FALSE(damage) << damage->message;
  EXPECT_THAT(messages_of(queue(OpClass::unexpected)),
              ElementsAre(Seen{2, 1, 8, Protocol::eager, 65534}, Seen{2, 4, 8, Protocol::eager, 1},
                          Seen{2, 5, 8, Protocol::eager, 2}, Seen{2, 6, 8, Protocol::eager, 3},
                          Seen{2, 9, 8, Protocol::eager, 9}));
  EXPECT_TRUE(queue(OpClass::unexpected).operations[0].text.empty());
  EXPECT_EQ(queue(OpClass::unexpected).operations[1].text.front(),
            "before its turn: message 1, and message 65535 has not come");
}

TEST_P(OpenMpiUnshown, CountersAreThoseOfTheWire) {
  process.channel(0, 1, 70000, 6);
  process.channel(0, 2, 3, 0); // 65,535 have come
  process.set(process.ob1_of(0), {"mca_pml_ob1_comm_t.recv_sequence"}, 65538);
  add();
  const auto& counters = process.communicators[0].counters;
  ASSERT_TRUE(counters);
  EXPECT_EQ(counters->modulus, 65536);
  EXPECT_EQ(counters->received, 2);
  ASSERT_EQ(counters->peers.size(), 2U);
  EXPECT_EQ(counters->peers[0].sent, 4464);
  EXPECT_EQ(counters->peers[0].arrived, 5);
  EXPECT_EQ(counters->peers[1].peer, 2);
  EXPECT_EQ(counters->peers[1].arrived, 65535);
}

TEST_P(OpenMpiUnshown, MessagesThatMayOvertakeEachOtherAreNotCounted) {
  process.channel(0, 1, 5, 1);
  process.set(process.object_of(0), {"ompi_communicator_t.c_assertions"}, 0x8);
  add();
  EXPECT_FALSE(process.communicators[0].counters);
}

TEST_P(OpenMpiUnshown, AProbeThatWaitsIsAReceiveOfTheProgram) {
  process.channel(0, 1);
  process.post(0, -1, process.stack_request(0, {-1, -1, 4}));
  process.post(0, 1, process.request(0, {1, 3, 2}));
  process.post(0, 1, process.stack_request(0, {1, 7, 4}));
  add();
  const auto& found = queue(OpClass::receive).operations;
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(queue(OpClass::receive).total, 2U);
  EXPECT_EQ(found[0].kind, OpKind::probe);
  EXPECT_TRUE(found[0].peer.any);
  EXPECT_TRUE(found[0].tag.any);
  EXPECT_EQ(found[1].peer.local_rank, 1);
  EXPECT_EQ(found[1].peer.global_rank, 1);
  EXPECT_EQ(found[1].tag.value, 7);
  EXPECT_EQ(found[1].collective, Collective::none);
  EXPECT_TRUE(found[1].repairs.empty());
}

TEST_P(OpenMpiUnshown, InsideOfCollectivesAreTheRequestsInUseWithTheirTags) {
  process.channel(0, 1);
  const auto posted = process.request(0, {1, allreduce, 2});
  process.post(0, 1, posted);
  const auto matched = process.request(0, {1, barrier, 2});
  process.request(0, {1, allreduce, 2, 1});    // complete
  process.request(0, {1, allreduce, 2, 0, 0}); // given back
  process.request(0, {1, 12, 2});              // the program's
  const auto sent = process.request(0, {3, -17, 1});
  process.request(7, {1, ibarrier, 1});
  add();
  const auto& received = queue(OpClass::receive).operations;
  ASSERT_EQ(received.size(), 2U);
  EXPECT_EQ(received[0].request, TargetAddress{posted});
  EXPECT_EQ(received[0].collective, Collective::allreduce);
  EXPECT_EQ(received[0].status, OpStatus::pending);
  EXPECT_EQ(received[1].request, TargetAddress{matched});
  EXPECT_EQ(received[1].collective, Collective::barrier);
  EXPECT_EQ(received[1].status, OpStatus::matched);
  const auto& sends = queue(OpClass::send).operations;
  ASSERT_EQ(sends.size(), 1U);
  EXPECT_EQ(sends[0].request, TargetAddress{sent});
  EXPECT_EQ(sends[0].collective, Collective::bcast);
  EXPECT_EQ(sends[0].peer.local_rank, 3);
  EXPECT_EQ(queue(OpClass::send, 1).operations[0].collective, Collective::nonblocking);
}

struct Waiting {
  std::uint32_t group;
  WaitMode mode;
  std::uint32_t count;
  bool unseen;
  bool operator==(const Waiting&) const = default;
};

std::vector<Waiting> waiting(const Queue& queue) {
  std::vector<Waiting> all;
  for (const Operation& operation : queue.operations)
    all.push_back({operation.waited.group, operation.waited.mode, operation.waited.count,
                   operation.waited.unseen});
  return all;
}

TEST_P(OpenMpiUnshown, WhatOneCallWaitsForIsAGroup) {
  const auto all = process.wait(2);
  const auto any = process.wait(1);
  for (const auto sync : {all, any, all, any})
    list(OpClass::receive, process.request(0, {1, 1, 2, sync}));
  list(OpClass::receive, process.request(0, {1, 1, 2}));
  add();
  const Waiting of_all{1, WaitMode::all, 2, false};
  const Waiting of_any{2, WaitMode::any, 1, false};
  EXPECT_THAT(waiting(queue(OpClass::receive)),
              ElementsAre(of_all, of_any, of_all, of_any,
                          Waiting{0, WaitMode::unknown, Waited::unknown_count, false}));
}

TEST_P(OpenMpiUnshown, AGroupMayHaveMembersThatAreNotSeen) {
  list(OpClass::receive, process.request(0, {1, 1, 2, process.wait(3)}));
  list(OpClass::send, process.request(0, {1, 1, 1, process.wait(1)}));
  add();
  EXPECT_THAT(waiting(queue(OpClass::receive)), ElementsAre(Waiting{2, WaitMode::all, 3, true}));
  EXPECT_THAT(waiting(queue(OpClass::send)), ElementsAre(Waiting{1, WaitMode::unknown, 1, false}));
}

TEST_P(OpenMpiUnshown, BesideANonblockingCollectiveOneOfAGroupMayBeIt) {
  list(OpClass::receive, process.request(0, {1, 1, 2, process.wait(1)}));
  const auto both = process.wait(2);
  list(OpClass::receive, process.request(0, {1, 1, 2, both}));
  list(OpClass::receive, process.request(0, {1, 1, 2, both}));
  process.request(7, {1, ibarrier, 1});
  add();
  EXPECT_THAT(waiting(queue(OpClass::receive)), ElementsAre(Waiting{1, WaitMode::unknown, 1, true},
                                                            Waiting{2, WaitMode::all, 2, false},
                                                            Waiting{2, WaitMode::all, 2, false}));
}

TEST_P(OpenMpiUnshown, WhatACallWaitsForIsTheSameWhateverIsFiltered) {
  const auto all = process.wait(3);
  const auto any = process.wait(1);
  list(OpClass::receive, process.request(0, {1, 1, 2, all}));
  list(OpClass::receive, process.request(0, {1, 1, 2, any}));
  process.request(0, {1, 2, 2, all}); // the filter has dropped these
  process.request(7, {1, 2, 1, all});
  process.request(0, {1, 2, 2, any});
  *queue(OpClass::receive).total += 2;
  *queue(OpClass::send, 1).total += 1;
  add();
  EXPECT_THAT(waiting(queue(OpClass::receive)), ElementsAre(Waiting{1, WaitMode::all, 3, false},
                                                            Waiting{2, WaitMode::any, 1, false}));
}

TEST_P(OpenMpiUnshown, ANonblockingCollectiveCountsThoughAFilterDropsIt) {
  list(OpClass::receive, process.request(0, {1, 1, 2, process.wait(1)}));
  process.request(7, {1, ibarrier, 1});
  request.keep = [](const Communicator& communicator, const Operation&) {
    return communicator.id != TargetAddress{7};
  };
  add();
  EXPECT_THAT(waiting(queue(OpClass::receive)),
              ElementsAre(Waiting{1, WaitMode::unknown, 1, true}));
}

TEST_P(OpenMpiUnshown, WhatIsNoCallThatWaitsIsNone) {
  list(OpClass::receive, process.request(0, {1, 1, 2, nowhere}));
  list(OpClass::receive, process.request(0, {1, 1, 2, process.wait(0)}));
  list(OpClass::receive, process.request(0, {1, 1, 2, process.wait(0xffffffff)}));
  add();
  for (const Operation& operation : queue(OpClass::receive).operations)
    EXPECT_FALSE(operation.waited);
}

TEST_P(OpenMpiUnshown, LimitsAndFiltersHold) {
  process.channel(0, 1, 0, 9);
  for (std::uint64_t number = 1; number <= 4; ++number)
    process.message(0, 1, {static_cast<std::int64_t>(number), 8, 0x41, number});
  request.keep = [](const Communicator&, const Operation& operation) {
    return operation.tag.value != 2;
  };
  request.max_operations = 3;
  add();
  EXPECT_EQ(queue(OpClass::unexpected).operations.size(), 2U);
  EXPECT_EQ(queue(OpClass::unexpected).truncated_by, TruncatedBy::operations);
  EXPECT_EQ(queue(OpClass::unexpected).total, std::nullopt);
}

TEST_P(OpenMpiUnshown, EarlyMessagesBeyondTheLimitAreNotUnsaid) {
  process.channel(0, 1, 0, 1);
  process.early(0, 1, {{{1, 8, 0x41, 5}, {1, 8, 0x41, 6}, {1, 8, 0x41, 7}}});
  request.max_operations = 2;
  add();
  EXPECT_EQ(queue(OpClass::unexpected).operations.size(), 2U);
  EXPECT_EQ(queue(OpClass::unexpected).truncated_by, TruncatedBy::operations);
  EXPECT_EQ(queue(OpClass::unexpected).total, std::nullopt);
}

/// Open MPI's debug DLL takes the first block for what full blocks leave.
TEST_P(OpenMpiUnshown, AFirstBlockThatIsLargerThanTheOthersIsLookedThrough) {
  process.set(process.address_of("mca_pml_base_recv_requests"),
              {"opal_free_list_t.fl_num_per_alloc"}, 10);
  for (int used = 0; used < 40; ++used)
    process.request(0, {1, 3, 2, 1});
  process.request(0, {1, barrier, 2});
  process.channel(0, 1);
  process.post(0, 1, process.request(0, {1, 3, 2})); // and not listed: that is no contradiction
  request.dll_is_done = true;
  add();
  ASSERT_EQ(queue(OpClass::receive).operations.size(), 1U);
  EXPECT_EQ(queue(OpClass::receive).operations[0].collective, Collective::barrier);
  EXPECT_EQ(queue(OpClass::receive).state, QueueState::error) << "of which the DLL sees 4 alone";
  ASSERT_TRUE(damage);
  EXPECT_EQ(damage->code, "dll.requests_unseen");
  EXPECT_EQ(queue(OpClass::send).state, QueueState::available);
}

TEST_P(OpenMpiUnshown, WhereThePostedReceivesAreNotKnownNothingIsCalledMatched) {
  process.channel(0, 1);
  const auto receive = process.request(0, {1, barrier, 2});
  process.post(0, 1, receive);
  process.set(receive, {"mca_pml_base_request_t.req_type"}, 77);
  add();
  ASSERT_EQ(queue(OpClass::receive).operations.size(), 1U);
  EXPECT_EQ(queue(OpClass::receive).operations[0].status, OpStatus::unknown);
}

TEST_P(OpenMpiUnshown, AReceiveOfTheProgramThatIsNotPostedAnyMoreHasMetItsMessage) {
  process.channel(0, 1);
  const auto posted = process.request(0, {1, 5, 2});
  process.post(0, 1, posted);
  const auto matched = process.request(0, {1, 5, 2});
  process.set(matched, {"mca_pml_ob1_recv_request_t.req_match_received"}, 1);
  const auto between = process.request(0, {1, 5, 2});
  for (const auto address : {posted, matched, between}) {
    Operation receive; // as the debug DLL has it
    receive.kind = OpKind::receive;
    receive.request = TargetAddress{address};
    process.communicators[0].queue(OpClass::receive).operations.push_back(receive);
  }
  add();
  const auto& receives = queue(OpClass::receive).operations;
  ASSERT_EQ(receives.size(), 3U);
  EXPECT_EQ(receives[0].status, OpStatus::pending);
  EXPECT_EQ(receives[1].status, OpStatus::matched);
  EXPECT_EQ(receives[2].status, OpStatus::unknown);
}

TEST_P(OpenMpiUnshown, WithoutADllTheRequestsOfTheProgramAreFoundInTheSamePlace) {
  request.all = true;
  for (auto& communicator : process.communicators)
    for (Queue& none : communicator.queues)
      none = process.communicators[0].queue(OpClass::unexpected); // as nobody provides it
  process.channel(0, 1);
  const auto posted = process.request(0, {1, 5, 2});
  process.post(0, 1, posted);
  const auto matched = process.request(0, {1, 6, 2});
  process.set(matched, {"mca_pml_ob1_recv_request_t.req_match_received"}, 1);
  process.request(0, {1, 7, 2});            // just being posted, or just being matched
  process.request(0, {1, 8, 2, 1});         // complete, and not given back
  process.request(0, {1, 9, 2, 1, 1});      // persistent, not started
  process.request(0, {1, 10, 2, 0, 0});     // given back
  process.request(0, {1, allreduce, 2, 1}); // of a collective, and complete
  process.request(7, {1, 11, 1});
  add();
  EXPECT_FALSE(damage) << damage->message;
  std::vector<std::pair<std::int64_t, OpStatus>> seen;
  for (const Operation& operation : queue(OpClass::receive).operations) {
    EXPECT_EQ(operation.source, OpSource::mqbridge);
    seen.emplace_back(operation.tag.value.value_or(-9), operation.status);
  }
  EXPECT_THAT(seen, testing::UnorderedElementsAre(
                        std::pair(5, OpStatus::pending), std::pair(6, OpStatus::matched),
                        std::pair(7, OpStatus::unknown), std::pair(8, OpStatus::complete),
                        std::pair(9, OpStatus::inactive)));
  EXPECT_EQ(queue(OpClass::receive).state, QueueState::available);
  EXPECT_EQ(queue(OpClass::receive).total, 5U);
  ASSERT_EQ(queue(OpClass::send, 1).operations.size(), 1U);
  EXPECT_EQ(queue(OpClass::send, 1).operations[0].tag.value, 11);
  EXPECT_EQ(queue(OpClass::send).total, 0U);
  EXPECT_EQ(queue(OpClass::unexpected).state, QueueState::available);
}

/// Requests that contradict each other, as a field that is elsewhere than the known types say makes
/// them.
class OpenMpiMisread : public OpenMpiUnshown {
protected:
  OpenMpiMisread() {
    request.all = true;
    for (auto& communicator : process.communicators)
      for (Queue& none : communicator.queues)
        none = process.communicators[0].queue(OpClass::unexpected);
    process.channel(0, 1);
    const auto posted = process.request(0, {1, 5, 2});
    process.post(0, 1, posted);
    sent = process.request(0, {1, 6, 1});
  }
  void expect_damage(const std::string& words) {
    add();
    EXPECT_NE(queue(OpClass::send).state, QueueState::available);
    ASSERT_TRUE(damage);
    EXPECT_THAT(damage->message, testing::HasSubstr(words));
  }

  FakeOb1::Address sent = 0;
};

INSTANTIATE_TEST_SUITE_P(, OpenMpiMisread, testing::ValuesIn(test_platforms()),
                         [](const auto& of) { return platform_name(of.param); });

TEST_P(OpenMpiMisread, ARequestOfAnotherClassThanItsList) {
  process.set_class(sent, nowhere);
  expect_damage("is no request of its list");
}

TEST_P(OpenMpiMisread, ARequestOfNoCommunicator) {
  process.set(sent, {"mca_pml_base_request_t.req_comm"}, nowhere);
  expect_damage("is of no communicator");
}

TEST_P(OpenMpiMisread, APostedReceiveThatIsNotAmongTheRequests) {
  const auto elsewhere = process.stack_request(0, {1, 5, 2});
  process.post(0, 1, elsewhere);
  expect_damage("1 of 2 posted receives are not among the requests");
}

TEST_P(OpenMpiUnshown, WhereNoCommunicatorHasAnObjectOfOb1NothingIsKnown) {
  for (const std::uint64_t context : {0, 7})
    process.set(process.object_of(context), {"ompi_communicator_t.c_pml_comm"}, 0);
  add();
  EXPECT_NE(queue(OpClass::unexpected).state, QueueState::available);
  ASSERT_TRUE(damage);
  EXPECT_THAT(damage->message, testing::HasSubstr("ob1 has no object of any communicator"));
}

TEST_P(OpenMpiUnshown, ADllThatListsFewerReceivesThanArePostedIsContradicted) {
  request.dll_is_done = true;
  process.channel(0, 1);
  for (const std::int64_t tag : {5, 6}) {
    const auto at = process.request(0, {1, tag, 2});
    process.post(0, 1, at);
    if (tag == 5)
      list(OpClass::receive, at);
  }
  add();
  ASSERT_TRUE(damage);
  EXPECT_EQ(damage->code, "dll.contradicted");
  EXPECT_THAT(damage->message, testing::HasSubstr("lists 1 of the 2 receives"));
  EXPECT_EQ(queue(OpClass::receive).state, QueueState::error);
}

TEST_P(OpenMpiUnshown, ADllThatListsOtherCommunicatorsIsContradicted) {
  request.dll_is_done = true;
  add();
  EXPECT_FALSE(damage) << damage->message;
  process.communicators.pop_back();
  add();
  ASSERT_TRUE(damage);
  EXPECT_EQ(damage->code, "dll.contradicted");
  EXPECT_THAT(damage->message, testing::HasSubstr("lists 1 communicators"));
  for (const OpClass op_class : op_classes)
    EXPECT_EQ(queue(op_class).state, QueueState::error);
}

TEST_P(OpenMpiUnshown, ARequestThatCannotBeReadHidesNoOther) {
  const auto unread = process.request(0, {1, barrier, 1});
  const auto read = process.request(0, {1, barrier, 1});
  const auto space = process.space();
  process.memory.leave_out({unread}, {read - 1});
  const auto outcome = openmpi::add_unshown(process.communicators, request, space);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(queue(OpClass::send).state, QueueState::error);
  ASSERT_EQ(queue(OpClass::send).operations.size(), 1U);
  EXPECT_EQ(queue(OpClass::send).operations[0].request, TargetAddress{read});
}

TEST_P(OpenMpiUnshown, WhatTakesNoMoreMemoryIsCutShort) {
  process.channel(0, 1, 0, 9);
  process.message(0, 1, {1, 8, 0x41, 1});
  process.message(0, 1, {1, 8, 0x41, 2});
  request.take_memory = [left = 1]() mutable { return left-- > 0; };
  add();
  EXPECT_EQ(queue(OpClass::unexpected).operations.size(), 1U);
  EXPECT_EQ(queue(OpClass::unexpected).truncated_by, TruncatedBy::bytes);
}

TEST_P(OpenMpiUnshown, QueuesThatNobodyAskedForStayAsTheyAre) {
  process.channel(0, 1);
  process.post(0, 1, process.stack_request(0, {1, 7, 4}));
  process.message(0, 1, {1, 8, 0x41, 1});
  request.op_classes = {OpClass::send};
  for (auto& communicator : process.communicators)
    communicator.queue(OpClass::unexpected) = {};
  add();
  EXPECT_THAT(queue(OpClass::receive).operations, testing::SizeIs(0));
  EXPECT_EQ(queue(OpClass::unexpected).state, QueueState::not_requested);
}

TEST_P(OpenMpiUnshown, WithoutTheTypesOfOb1TheDllsWordStands) {
  process.types->remove("mca_pml_ob1_recv_frag_t");
  add();
  ASSERT_TRUE(lacking);
  EXPECT_THAT(lacking->code, "types.partial");
  EXPECT_EQ(queue(OpClass::unexpected).state, QueueState::unavailable);
  EXPECT_EQ(queue(OpClass::unexpected).reason, QueueReason::types_missing);
  EXPECT_FALSE(process.communicators[0].counters);
}

TEST_P(OpenMpiUnshown, TypesOfAnotherBuildAreNotUsed) {
  process.types->add("mca_pml_ob1_comm_proc_t", {{"expected_sequence", 0, 2}});
  add();
  ASSERT_TRUE(lacking);
  EXPECT_EQ(queue(OpClass::unexpected).reason, QueueReason::types_missing);
}

TEST_P(OpenMpiUnshown, AnotherTransportKeepsNothingThere) {
  process.name_transport("monitoring");
  add();
  EXPECT_FALSE(lacking);
  EXPECT_EQ(queue(OpClass::unexpected).reason, QueueReason::not_provided);
}

TEST_P(OpenMpiUnshown, OfAnotherMtlThanLibfabricsNothingIsRead) {
  process.name_transport("cm");
  add();
  ASSERT_TRUE(lacking);
  EXPECT_EQ(lacking->code, codes::transport_bypasses);
  EXPECT_THAT(lacking->message, testing::HasSubstr("another MTL than ofi"));
  EXPECT_EQ(queue(OpClass::unexpected).reason, QueueReason::not_provided);
}

TEST_P(OpenMpiUnshown, OverUcxWithoutItsPluginNothingIsRead) {
  process.name_transport("ucx");
  add();
  ASSERT_TRUE(lacking);
  EXPECT_EQ(lacking->code, codes::transport_bypasses);
  EXPECT_THAT(lacking->message, testing::HasSubstr("mca_pml_ucx.so"));
  EXPECT_EQ(queue(OpClass::unexpected).reason, QueueReason::not_provided);
}

TEST_P(OpenMpiUnshown, OfACommunicatorThatOnlyTheDllKnowsItsWordStands) {
  auto& communicators = process.communicators;
  communicators.push_back(communicators.front());
  communicators.back().id = {9};
  add();
  EXPECT_FALSE(damage) << damage->message;
  EXPECT_EQ(queue(OpClass::receive, 2).state, QueueState::available);
  EXPECT_EQ(queue(OpClass::unexpected, 2).state, QueueState::unavailable);
  EXPECT_FALSE(communicators.back().counters);
}

TEST_P(OpenMpiUnshown, ALostConnectionLeavesNoEmptyQueue) {
  process.channel(0, 1);
  process.message(0, 1, {1, 8, 0x41, 1});
  const auto space = process.space();
  const auto before = process.communicators;
  for (int reads = 2; reads < 1000; ++reads) { // the first two are of the transport and the types
    process.communicators = before;
    FailingMemory failing(process.memory, reads);
    const auto outcome = openmpi::add_unshown(process.communicators, request,
                                              {space.images, failing, space.platform});
    if (outcome)
      return;
    if (queue(OpClass::unexpected).state == QueueState::available) {
      EXPECT_EQ(queue(OpClass::unexpected).operations.size(), 1U) << "what was read before stays";
      continue;
    }
    for (const auto& communicator : process.communicators) {
      for (const Queue& queue : communicator.queues) {
        EXPECT_EQ(queue.state, QueueState::error) << reads;
        EXPECT_EQ(queue.total, std::nullopt) << reads;
      }
    }
  }
  FAIL() << "it never ends";
}

/// One thing that is wrong, and which queue of the first communicator is then not believed.
struct Damage {
  const char* name;
  OpClass op_class;
  std::function<void(FakeOb1&, FakeOb1::Address message, FakeOb1::Address receive)> make;
};

void PrintTo(const Damage& damage, std::ostream* out) {
  *out << damage.name;
}

const FakeOb1::Path next_item = {"opal_list_item_t.opal_list_next"};
const std::string header = "mca_pml_ob1_recv_frag_t.hdr";

const std::vector<Damage>& damages() {
  using Address = FakeOb1::Address;
  static const std::vector<Damage> all = {
      {"ACycle", OpClass::unexpected,
       [](FakeOb1& of, Address message, Address) { of.set(message, next_item, message); }},
      {"ACycleOfTwo", OpClass::unexpected,
       [](FakeOb1& of, Address message, Address) {
         const Address second = of.message(0, 1, {2, 8, 0x41, 2});
         of.set(second, next_item, message);
       }},
      {"APointerToNowhere", OpClass::unexpected,
       [](FakeOb1& of, Address message, Address) { of.set(message, next_item, nowhere); }},
      {"AListThatEndsEarly", OpClass::unexpected,
       [](FakeOb1& of, Address message, Address) {
         of.message(0, 1, {2, 8, 0x41, 2});
         of.set(message, next_item,
                of.process_of(0, 1) + of.offset_of({"mca_pml_ob1_comm_proc_t.unexpected_frags",
                                                    "opal_list_t.opal_list_sentinel"}));
       }},
      {"AnotherSender", OpClass::unexpected,
       [](FakeOb1& of, Address message, Address) {
         of.set(message, {header, "mca_pml_ob1_match_hdr_t.hdr_src"}, 2);
       }},
      {"AnotherCommunicator", OpClass::unexpected,
       [](FakeOb1& of, Address message, Address) {
         of.set(message, {header, "mca_pml_ob1_match_hdr_t.hdr_ctx"}, 7);
       }},
      {"AnotherType", OpClass::unexpected,
       [](FakeOb1& of, Address message, Address) {
         of.set(message,
                {header, "mca_pml_ob1_match_hdr_t.hdr_common", "mca_pml_ob1_common_hdr_t.hdr_type"},
                0x44);
       }},
      {"AnotherClass", OpClass::unexpected,
       [](FakeOb1& of, Address message, Address) { of.set_class(message, nowhere); }},
      {"AHugeLength", OpClass::unexpected,
       [](FakeOb1& of, Address message, Address) {
         of.set(message, {"mca_pml_ob1_recv_frag_t.segments", "mca_btl_base_segment_t.seg_len"},
                huge);
       }},
      {"LessThanAHeader", OpClass::unexpected,
       [](FakeOb1& of, Address message, Address) {
         of.set(message, {"mca_pml_ob1_recv_frag_t.segments", "mca_btl_base_segment_t.seg_len"}, 3);
       }},
      {"ManySegments", OpClass::unexpected,
       [](FakeOb1& of, Address message, Address) {
         of.set(message, {"mca_pml_ob1_recv_frag_t.num_segments"}, huge | 3);
       }},
      {"AnEarlyMessageNowhere", OpClass::unexpected,
       [](FakeOb1& of, Address, Address) {
         of.set(of.process_of(0, 1), {"mca_pml_ob1_comm_proc_t.frags_cant_match"}, nowhere);
       }},
      {"AProcessNowhere", OpClass::unexpected,
       [](FakeOb1& of, Address, Address) { of.unmap(of.process_of(0, 1)); }},
      {"ManyPeers", OpClass::unexpected,
       [](FakeOb1& of, Address, Address) {
         of.set(of.ob1_of(0), {"mca_pml_ob1_comm_t.num_procs"}, huge | 5);
       }},
      {"ATableNowhere", OpClass::receive,
       [](FakeOb1& of, Address, Address) {
         of.set(of.ob1_of(0), {"mca_pml_ob1_comm_t.procs"}, nowhere);
       }},
      {"AnObjectOfAnotherClass", OpClass::receive,
       [](FakeOb1& of, Address, Address) { of.set_class(of.ob1_of(0), nowhere); }},
      {"AReceiveThatIsNone", OpClass::receive,
       [](FakeOb1& of, Address, Address receive) {
         of.set(receive, {"mca_pml_base_request_t.req_type"}, 77);
       }},
      {"AReceiveOfAnotherPeer", OpClass::receive,
       [](FakeOb1& of, Address, Address receive) {
         of.set(receive, {"mca_pml_base_request_t.req_peer"}, 3);
       }},
      {"AReceiveNowhere", OpClass::receive,
       [](FakeOb1& of, Address, Address receive) { of.set(receive, next_item, nowhere); }},
      {"ManyRequests", OpClass::send,
       [](FakeOb1& of, Address, Address) {
         of.set(of.address_of("mca_pml_base_send_requests"), {"opal_free_list_t.fl_num_allocated"},
                huge | 0xf0000000);
       }},
      {"BlocksWithoutEnd", OpClass::send,
       [](FakeOb1& of, Address, Address) {
         of.set(of.address_of("mca_pml_base_send_requests"),
                {"opal_free_list_t.fl_allocations", "opal_list_t.opal_list_sentinel",
                 "opal_list_item_t.opal_list_next"},
                nowhere);
       }},
  };
  return all;
}

class DamagedOb1 : public testing::TestWithParam<std::tuple<Platform, Damage>> {};

INSTANTIATE_TEST_SUITE_P(, DamagedOb1,
                         testing::Combine(testing::ValuesIn(test_platforms()),
                                          testing::ValuesIn(damages())),
                         [](const auto& of) {
                           return platform_name(std::get<0>(of.param)) + std::get<1>(of.param).name;
                         });

/// What the other queues and communicators say stands.
TEST_P(DamagedOb1, MakesItsQueueAnErrorAndInventsNothing) {
  const auto& [platform, damage] = GetParam();
  FakeOb1 process(platform);
  process.communicator(0, 4);
  process.communicator(7, 2);
  process.channel(0, 1, 0, 5);
  process.channel(0, 2, 0, 5);
  process.channel(7, 1, 0, 2);
  const auto message = process.message(0, 1, {1, 8, 0x41, 1});
  process.message(7, 1, {9, 16, 0x41, 1});
  const auto receive = process.request(0, {1, barrier, 2});
  process.post(0, 1, receive);
  process.post(7, 1, process.request(7, {1, barrier, 2}));
  damage.make(process, message, receive);

  const UnshownRequest request{{OpClass::send, OpClass::receive, OpClass::unexpected}};
  const auto outcome = openmpi::add_unshown(process.communicators, request, process.space());
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_TRUE(outcome->damage);
  EXPECT_EQ(outcome->damage->code, "queue.damaged");
  const Queue& damaged = process.communicators[0].queue(damage.op_class);
  EXPECT_EQ(damaged.state, QueueState::error);
  EXPECT_EQ(damaged.total, std::nullopt);
  EXPECT_TRUE(damaged.error);
  for (const Operation& operation :
       process.communicators[0].queue(OpClass::unexpected).operations) {
    EXPECT_EQ(operation.peer.local_rank, 1);
    EXPECT_EQ(operation.length.value, 8);
  }
  const Queue& other = process.communicators[1].queue(OpClass::unexpected);
  EXPECT_EQ(other.state, QueueState::available);
  EXPECT_EQ(messages_of(other), (std::vector<Seen>{{1, 9, 16, Protocol::eager, 1}}));
}

TEST(CollectiveTags, AreThoseOfOpenMpi) {
  using openmpi::collective_of;
  EXPECT_EQ(collective_of(0), Collective::none);
  EXPECT_EQ(collective_of(-1), Collective::none); // MPI_ANY_TAG
  EXPECT_EQ(collective_of(-9), Collective::internal);
  EXPECT_EQ(collective_of(-10), Collective::allgather);
  EXPECT_EQ(collective_of(-26), Collective::scatterv);
  EXPECT_EQ(collective_of(-27), Collective::nonblocking);
  EXPECT_EQ(collective_of(-1073741822), Collective::nonblocking);
  EXPECT_EQ(collective_of(-1073741823), Collective::neighbor);
  EXPECT_EQ(collective_of(-1073741824 - 1023), Collective::neighbor);
  EXPECT_EQ(collective_of(-1073741824 - 1024), Collective::internal);
}

} // namespace
} // namespace mqbridge
