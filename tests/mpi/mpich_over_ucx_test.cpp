// MPICH's objects in a library that names none of them, and its operations over UCX.

#include "host/mpi/mpich/mpich_found_communicators.h"
#include "host/mpi/mpich/mpich_ucx.h"
#include "tests/mpi/damaged_memory.h"
#include "tests/mpi/fake_mpich_over_ucx.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <span>

namespace mqbridge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint64_t mpich_send = 1, mpich_receive = 2, persistent_receive = 4;
constexpr std::uint64_t with_any_tag = ~std::uint64_t{0x6fff'ffff};
constexpr std::uint64_t of_one_source = ~std::uint64_t{0x6000'0000};
constexpr std::uint64_t of_any_source = of_one_source & ~std::uint64_t{0xffff'0000'0000};

/// Memory that answers some times, and then no more.
class LostMemory final : public Memory {
public:
  LostMemory(Memory& below, int answers) : below_(below), answers_(answers) {}

  Result<void> read_ranges(std::span<MemoryRange> ranges) override {
    if (answers_-- <= 0)
      return fail("stub.timeout", "the stub is silent");
    return below_.read_ranges(ranges);
  }

private:
  Memory& below_;
  int answers_;
};

struct Build {
  bool since_4_1;
  ByteOrder order;
};

class MpichOverUcx : public testing::TestWithParam<Build> {
protected:
  /// The communicators with their queues; `memory`: of the process, or what is read in its place.
  std::vector<Communicator> look(Memory& memory) {
    const AddressSpace space{process.images, memory, process.platform};
    outcome = {};
    const auto data = mpich::find_own_data(process.range(), space);
    if (!data) {
      error = data.error();
      return {};
    }
    auto found = mpich::find_communicators(*data, space);
    if (!found) {
      error = found.error();
      return {};
    }
    std::vector<Communicator> listed;
    for (auto& each : *found)
      if (!each.is_part)
        listed.push_back(std::move(each.communicator));
    for (Communicator& each : listed)
      for (Queue& queue : each.queues)
        queue.state = QueueState::unavailable;
    UnshownRequest request;
    request.op_classes.assign(op_classes.begin(), op_classes.end());
    request.all = true;
    auto read = mpich::add_ucx_operations(listed, request, *data, space);
    if (read)
      outcome = std::move(*read);
    else
      error = read.error();
    return listed;
  }
  std::vector<Communicator> look() {
    process.write_mpich();
    return look(process.memory);
  }

  FakeMpichOverUcx process{GetParam().since_4_1,
                           GetParam().since_4_1 ? UcxVersion::v1_18 : UcxVersion::v1_13,
                           GetParam().order};
  UnshownOutcome outcome;
  std::optional<Error> error;
};

const Operation& only(const Communicator& communicator, OpClass op_class) {
  const auto& operations = communicator.queue(op_class).operations;
  EXPECT_EQ(operations.size(), 1U);
  return *operations.begin();
}

TEST_P(MpichOverUcx, CommunicatorsAreFoundWithTheirRanks) {
  process.add({.context = 32, .rank = 1, .size = 2, .name = "upper", .mode = 3, .offset = 1});
  process.add({.context = 48, .rank = 0, .size = 2, .mode = 5, .offset = 1, .stride = 2});
  process.add({.context = 64, .rank = 1, .size = 3, .mode = 7, .stride = 2, .block = 1});
  process.add({.context = 80, .rank = 2, .size = 4, .mode = 9, .table = {3, 2, 1, 0}});
  process.add({.context = 96, .rank = 0, .size = 2, .mode = 0, .job = 1});
  process.add({.context = 34, .rank = 1, .size = 2, .mode = 3, .offset = 1}); // a node's
  const auto all = look();
  ASSERT_THAT(all, SizeIs(7)) << (error ? error->message : "");
  const auto group = [&](std::size_t i) { return all[i].group.value_or({}); };
  EXPECT_EQ(all[0].name, "MPI_COMM_WORLD");
  EXPECT_EQ(all[0].context, 0U);
  EXPECT_EQ(all[0].local_rank, 1);
  EXPECT_THAT(group(0), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(group(1), ElementsAre(1));
  EXPECT_EQ(all[2].name, "upper");
  EXPECT_FALSE(all[2].named_by_mpi);
  EXPECT_THAT(group(2), ElementsAre(1, 2));
  EXPECT_THAT(group(3), ElementsAre(1, 3));
  EXPECT_THAT(group(4), ElementsAre(0, 2, 4));
  EXPECT_THAT(group(5), ElementsAre(3, 2, 1, 0));
  EXPECT_FALSE(all[6].group) << "of another job";
  EXPECT_FALSE(error);
}

TEST_P(MpichOverUcx, OperationsAreThoseOfTheirCommunicators) {
  process.add(
      {.context = 80, .rank = 2, .size = 4, .name = "back", .mode = 9, .table = {3, 2, 1, 0}});
  const auto receive =
      process.request(mpich_receive, process.post({.tag = FakeMpichOverUcx::tag(0, 2, 17),
                                                   .mask = of_one_source,
                                                   .buffer = 0x1234,
                                                   .length = 40}));
  process.request(mpich_receive, process.post({.tag = FakeMpichOverUcx::tag(80, 0, 0),
                                               .mask = of_any_source & with_any_tag}));
  process.request(mpich_send, process.send({.tag = FakeMpichOverUcx::tag(80, 2, 5),
                                            .endpoint = FakeMpichOverUcx::endpoint_of(3)}));
  process.arrive(FakeMpichOverUcx::tag(80, 3, 6), 1U << 1 | 1U << 2, 12, 8);
  const auto all = look();
  ASSERT_THAT(all, SizeIs(3)) << (error ? error->message : "");
  const Operation& first = only(all[0], OpClass::receive);
  EXPECT_EQ(first.peer.local_rank, 2);
  EXPECT_EQ(first.tag.value, 17);
  EXPECT_EQ(first.length.value, 40);
  EXPECT_EQ(first.buffer, TargetAddress{0x1234});
  EXPECT_EQ(first.request, TargetAddress{receive});
  EXPECT_EQ(first.status, OpStatus::pending);
  const Operation& wild = only(all[2], OpClass::receive);
  EXPECT_TRUE(wild.peer.any);
  EXPECT_TRUE(wild.tag.any);
  const Operation& send = only(all[2], OpClass::send);
  EXPECT_EQ(send.peer.local_rank, 0) << "process 3 stands first there";
  EXPECT_EQ(send.peer.global_rank, 3);
  EXPECT_EQ(send.tag.value, 5);
  const Operation& message = only(all[2], OpClass::unexpected);
  EXPECT_EQ(message.peer.local_rank, 3);
  EXPECT_EQ(message.peer.global_rank, 0);
  for (const Communicator& each : all)
    for (const Queue& queue : each.queues)
      EXPECT_TRUE(is_whole(queue));
  EXPECT_FALSE(outcome.damage);
  EXPECT_FALSE(outcome.lacking);
}

/// MPICH sends those of a node's processes among themselves.
TEST_P(MpichOverUcx, OperationsInsideOfCollectivesStandWhereTheUserCalledThem) {
  process.add({.context = 2, .rank = 0, .size = 2, .mode = 5, .offset = 1, .stride = 2});
  process.request(mpich_receive,
                  process.post({.tag = FakeMpichOverUcx::tag(3, 1, 1), .mask = of_one_source}));
  process.request(mpich_send, process.send({.tag = FakeMpichOverUcx::tag(3, 0, 1),
                                            .endpoint = FakeMpichOverUcx::endpoint_of(3)}));
  const auto all = look();
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(only(all[0], OpClass::receive).peer.local_rank, 3);
  EXPECT_EQ(only(all[0], OpClass::receive).collective, Collective::barrier);
  EXPECT_EQ(only(all[0], OpClass::send).peer.local_rank, 3);
  EXPECT_EQ(only(all[0], OpClass::send).collective, Collective::barrier);
}

TEST_P(MpichOverUcx, TheRequestIsTheOneThatTheProgramHas) {
  const auto of_ucx = process.post({.tag = FakeMpichOverUcx::tag(0, 2, 17), .mask = of_one_source});
  process.request(mpich_receive, of_ucx, 0); // complete: it had the same part before
  const auto started = process.request(mpich_receive, of_ucx);
  const auto persistent = process.persistent(persistent_receive, started);
  const auto all = look();
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(only(all[0], OpClass::receive).request, TargetAddress{persistent});
}

TEST_P(MpichOverUcx, WhatMpiBsendHasCopiedIsCompleteForTheProgram) {
  const auto request =
      process.request(mpich_send, process.send({.tag = FakeMpichOverUcx::tag(0, 1, 5),
                                                .buffer = 0x78'0200,
                                                .endpoint = FakeMpichOverUcx::endpoint_of(0)}));
  process.buffer(0x78'0200, request);
  const auto all = look();
  const Operation& send = only(all.at(0), OpClass::send);
  EXPECT_EQ(send.status, OpStatus::complete);
  EXPECT_TRUE(send.system_buffer);
  EXPECT_EQ(send.delivery, Delivery::undelivered);
}

TEST_P(MpichOverUcx, WhatAProcessSendsItselfIsBothASendAndAMessage) {
  const auto alone = process.add({.context = 64, .name = "alone", .mode = 3, .offset = 1});
  process.own(mpich_receive, alone, 64, 0xffff'ffff);
  process.own(mpich_send, alone, 64, 9);
  const auto all = look();
  ASSERT_THAT(all, SizeIs(3));
  EXPECT_TRUE(only(all[2], OpClass::receive).tag.any);
  const Operation& send = only(all[2], OpClass::send);
  EXPECT_EQ(send.tag.value, 9);
  EXPECT_EQ(send.length.value, 20);
  EXPECT_EQ(send.peer.global_rank, 1);
  EXPECT_EQ(only(all[2], OpClass::unexpected).kind, OpKind::message);
  EXPECT_FALSE(outcome.damage);
}

/// The request of MPI_Mprobe knows the send.
TEST_P(MpichOverUcx, WhatMpiMprobeHasTakenIsNoMessageAnyMore) {
  constexpr std::uint64_t mprobe = 11;
  const auto alone = process.add({.context = 64, .name = "alone", .mode = 3, .offset = 1});
  const auto send = process.own(mpich_send, alone, 64, 9);
  process.word(process.request(mprobe, 0) + 208, send);
  const auto all = look();
  ASSERT_THAT(all, SizeIs(3));
  EXPECT_THAT(all[2].queue(OpClass::send).operations, SizeIs(1));
  EXPECT_THAT(all[2].queue(OpClass::unexpected).operations, IsEmpty());
}

/// MPI_Comm_dup has made an object, and not agreed on a context yet.
TEST_P(MpichOverUcx, ACommunicatorThatIsBeingMadeIsNone) {
  process.add({.context = 0x7fff, .rank = 1, .size = 4, .mode = 11});
  process.request(mpich_send, process.send({.tag = FakeMpichOverUcx::tag(0, 1, 5),
                                            .endpoint = FakeMpichOverUcx::endpoint_of(3)}));
  const auto all = look();
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(only(all[0], OpClass::send).peer.local_rank, 3);
}

TEST_P(MpichOverUcx, ASendThatMpichDoesNotKnowYetMakesNoQueueWhole) {
  process.send(
      {.tag = FakeMpichOverUcx::tag(0, 1, 5), .endpoint = FakeMpichOverUcx::endpoint_of(3)});
  const auto all = look();
  ASSERT_TRUE(outcome.damage);
  EXPECT_FALSE(is_whole(all.at(0).queue(OpClass::send)));
}

TEST_P(MpichOverUcx, APendingRequestThatNobodyKnowsMakesNoQueueWhole) {
  process.request(mpich_send, 0);
  const auto all = look();
  ASSERT_THAT(all, SizeIs(2));
  ASSERT_TRUE(outcome.damage);
  EXPECT_THAT(outcome.damage->message, HasSubstr("1 pending request of MPICH, which is not"));
  EXPECT_EQ(all[0].queue(OpClass::send).state, QueueState::error);
  EXPECT_EQ(all[0].queue(OpClass::receive).state, QueueState::error);
  EXPECT_EQ(all[0].queue(OpClass::unexpected).state, QueueState::error);
}

TEST_P(MpichOverUcx, WhoseReceiverIsNotKnownIsInNoQueue) {
  process.request(mpich_send,
                  process.send({.tag = FakeMpichOverUcx::tag(0, 1, 5), .endpoint = 0x9'9990}));
  const auto all = look();
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_THAT(all[0].queue(OpClass::send).operations, IsEmpty());
  EXPECT_FALSE(is_whole(all[0].queue(OpClass::send)));
  ASSERT_TRUE(outcome.lacking);
  EXPECT_EQ(outcome.lacking->code, "queue.nowhere");
}

TEST_P(MpichOverUcx, SeveralWorkersAreNotRead) {
  process.write_mpich();
  process.word(FakeMpichOverUcx::data + 0x5060, FakeUcx::worker);
  look(process.memory);
  ASSERT_TRUE(outcome.lacking);
  EXPECT_THAT(outcome.lacking->message, HasSubstr("several workers"));
}

/// Any word of its data may be another one: then less is told, and that it is less; what is told
/// stays true.
TEST_P(MpichOverUcx, OfDamagedDataNothingIsInvented) {
  process.add(
      {.context = 80, .rank = 2, .size = 4, .name = "back", .mode = 9, .table = {3, 2, 1, 0}});
  process.request(mpich_receive,
                  process.post({.tag = FakeMpichOverUcx::tag(80, 2, 17), .mask = of_one_source}));
  process.request(mpich_send, process.send({.tag = FakeMpichOverUcx::tag(0, 1, 5),
                                            .endpoint = FakeMpichOverUcx::endpoint_of(0)}));
  const auto whole = look();
  ASSERT_THAT(whole, SizeIs(3));
  const auto shown = [](const std::vector<Communicator>& all) {
    std::size_t count = 0;
    for (const Communicator& each : all)
      for (const Queue& queue : each.queues)
        count += is_whole(queue) ? queue.operations.size() : 100;
    return count;
  };
  ASSERT_EQ(shown(whole), 2U);
  std::vector<std::byte> data(FakeMpichOverUcx::data_bytes);
  ASSERT_EQ(process.memory.read({FakeMpichOverUcx::data}, data), data.size());
  for (std::uint64_t at = 0; at < data.size(); at += 4) {
    constexpr std::uint64_t sample = 1024; // of words that are 0
    const auto word = std::span(data).subspan(at, 4);
    if (at % sample != 0 &&
        std::ranges::all_of(word, [](auto byte) { return byte == std::byte(); }))
      continue;
    const std::vector<std::byte> other(4, std::byte{0x5a});
    DamagedMemory damaged(process.memory, {FakeMpichOverUcx::data + at}, other);
    error.reset();
    const auto all = look(damaged);
    if (error || outcome.lacking || outcome.damage || shown(all) != 2)
      continue; // it is said
    for (const Communicator& each : all)
      for (const Queue& queue : each.queues)
        for (const Operation& operation : queue.operations)
          EXPECT_TRUE(operation.tag.value == 17 || operation.tag.value == 5) << std::hex << at;
  }
}

TEST_P(MpichOverUcx, ALostConnectionIsAnErrorAtEachRead) {
  process.add({.context = 80, .rank = 2, .size = 4, .mode = 9, .table = {3, 2, 1, 0}});
  process.request(mpich_receive,
                  process.post({.tag = FakeMpichOverUcx::tag(0, 2, 17), .mask = of_one_source}));
  process.request(mpich_send, process.send({.tag = FakeMpichOverUcx::tag(0, 1, 5),
                                            .endpoint = FakeMpichOverUcx::endpoint_of(0)}));
  look();
  ASSERT_FALSE(error);
  process.memory.calls = 0;
  look(process.memory);
  const int reads = process.memory.calls;
  ASSERT_GT(reads, 5);
  for (int last = 0; last < reads; ++last) {
    LostMemory lost(process.memory, last);
    error.reset();
    look(lost);
    ASSERT_TRUE(error) << "after " << last << " of " << reads;
    EXPECT_EQ(error->code, "stub.timeout");
  }
}

INSTANTIATE_TEST_SUITE_P(Builds, MpichOverUcx,
                         testing::Values(Build{false, ByteOrder::little},
                                         Build{true, ByteOrder::little},
                                         Build{false, ByteOrder::big}, Build{true, ByteOrder::big}),
                         [](const auto& each) {
                           return std::string(each.param.since_4_1 ? "v4_2" : "v4_0") +
                                  (each.param.order == ByteOrder::little ? "_little" : "_big");
                         });

} // namespace
} // namespace mqbridge
