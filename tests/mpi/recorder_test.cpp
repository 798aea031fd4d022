// What the host reads of a recorder beside its debug DLL, on four platforms: over memory that is
// written here, field by field.

#include "dll/recorder/functions.h"
#include "dll/recorder/layout.h"
#include "host/mpi/mpi_support.h"
#include "host/mpi/recorder/recorder_process.h"
#include "host/mpi/repairs.h"
#include "tests/dll/layout_image.h"
#include "tests/mqs/test_target.h"

#include <gmock/gmock.h>

namespace mqbridge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

#define PUT(image, address, structure, member, value)                                              \
  (image).set((address) + offsetof(structure, member), static_cast<std::uint64_t>(value),          \
              sizeof(structure::member))

struct LaidThread {
  std::int64_t thread = 0;
  std::uint32_t function = MQR_NO_FUNCTION;
  std::uint64_t communicator = 0;
  std::uint64_t site = 0;
  std::optional<std::uint32_t> sequence = {};
  std::int32_t root = MQR_NO_ROOT;
  std::uint32_t wait = 0, needed = 0, unseen = 0;
  std::uint32_t changes = 0;
};

struct LaidChannel {
  std::int32_t peer = 0, tag = 0;
  std::uint32_t sent = 0, received = 0;
};

/// A process of two communicators, and what its recorder keeps beside their queues.
class Recorded : public testing::TestWithParam<Platform> {
protected:
  Recorded() : image_(GetParam(), {world(), inter()}) {
    PUT(image_, image_.communicators[0], mqr_communicator, collectives, 9);
    const auto library = image_.place(MQR_LIBRARY_SIZE);
    image_.text(library, "Some MPI 7.1\nwith more lines");
    PUT(image_, image_.root, mqr_root, library, library);
    PUT(image_, image_.root, mqr_root, thread_level, MQR_LEVEL_SERIALIZED);
    PUT(image_, image_.communicators[1], mqr_communicator, remote_size, 3);
    const auto remote = image_.place(12);
    for (std::uint64_t i = 0; i < 3; ++i)
      image_.set(remote + 4 * i, 5 + i, 4);
    PUT(image_, image_.communicators[1], mqr_communicator, remote_group, remote);
  }

  static LaidCommunicator world() {
    LaidCommunicator made;
    made.id = 1;
    made.name = "renamed";
    made.local_rank = 1;
    made.group = {0, 1, 2};
    LaidOperation send{.queue = 0, .status = MQR_PENDING, .peer = 2, .peer_world = 2, .tag = 17};
    LaidOperation inactive{.status = MQR_COMPLETE, .flags = MQR_INACTIVE, .peer = 0, .tag = 3};
    LaidOperation probe{.flags = MQR_PROBE | MQR_ANY_TAG, .peer = -1, .peer_world = -1};
    LaidOperation mprobe{.flags = MQR_MPROBE, .peer = 0, .tag = 4};
    LaidOperation taken{.queue = 2, .flags = MQR_TAKEN, .peer = 0, .tag = 5};
    for (auto* each : {&send, &inactive, &probe, &mprobe, &taken})
      each->call = "MPI_Function";
    made.operations = {send, inactive, probe, mprobe, taken};
    return made;
  }

  static LaidCommunicator inter() {
    LaidCommunicator made;
    made.id = 0x90000001;
    made.name = "inter";
    made.group = {1, 4};
    made.kind = MQR_INTER;
    return made;
  }

  std::uint64_t add_thread(const LaidThread& thread) {
    const auto at = image_.place(sizeof(mqr_thread));
    PUT(image_, at, mqr_thread, node.magic, MQR_MAGIC_THREAD);
    PUT(image_, at, mqr_thread, node.next, last_thread_);
    PUT(image_, at, mqr_thread, thread, thread.thread);
    PUT(image_, at, mqr_thread, changes, thread.changes);
    PUT(image_, at, mqr_thread, function, thread.function);
    PUT(image_, at, mqr_thread, communicator, thread.communicator);
    PUT(image_, at, mqr_thread, site, thread.site);
    PUT(image_, at, mqr_thread, has_sequence, thread.sequence.has_value());
    PUT(image_, at, mqr_thread, sequence, thread.sequence.value_or(77));
    PUT(image_, at, mqr_thread, root, thread.root);
    PUT(image_, at, mqr_thread, wait, thread.wait);
    PUT(image_, at, mqr_thread, needed, thread.needed);
    PUT(image_, at, mqr_thread, unseen, thread.unseen);
    PUT(image_, image_.root, mqr_root, threads.first, at);
    PUT(image_, image_.root, mqr_root, threads.count, ++threads_);
    last_thread_ = at;
    return at;
  }

  std::uint64_t add_channels(std::size_t communicator, const std::vector<LaidChannel>& channels,
                             std::uint32_t capacity) {
    const auto at = image_.place(sizeof(mqr_channels) + capacity * sizeof(mqr_channel));
    PUT(image_, at, mqr_channels, magic, MQR_MAGIC_CHANNELS);
    PUT(image_, at, mqr_channels, capacity, capacity);
    PUT(image_, at, mqr_channels, count, channels.size());
    for (std::size_t i = 0; i < capacity; ++i) {
      const auto entry = at + sizeof(mqr_channels) + i * sizeof(mqr_channel);
      PUT(image_, entry, mqr_channel, peer, MQR_NO_PEER);
      if (i < 1 || i > channels.size())
        continue;
      const auto& channel = channels[i - 1]; // the first one is a gap
      PUT(image_, entry, mqr_channel, peer, channel.peer);
      PUT(image_, entry, mqr_channel, tag, channel.tag);
      PUT(image_, entry, mqr_channel, sent, channel.sent);
      PUT(image_, entry, mqr_channel, received, channel.received);
    }
    PUT(image_, image_.communicators[communicator], mqr_communicator, channels, at);
    return at;
  }

  std::uint64_t add_collective(std::uint32_t function, std::uint32_t wait) {
    const auto at = image_.place(sizeof(mqr_collective));
    PUT(image_, at, mqr_collective, node.magic, MQR_MAGIC_COLLECTIVE);
    PUT(image_, at, mqr_collective, function, function);
    PUT(image_, at, mqr_collective, sequence, 8);
    PUT(image_, at, mqr_collective, root, 2);
    PUT(image_, at, mqr_collective, wait, wait);
    PUT(image_, at, mqr_collective, request, 0xf2000000);
    PUT(image_, at, mqr_collective, site, 0xf0001234);
    PUT(image_, image_.communicators[0], mqr_communicator, under_way.first, at);
    PUT(image_, image_.communicators[0], mqr_communicator, under_way.count, 1);
    return at;
  }

  std::uint64_t operation(std::size_t index) const { return image_.operations[0][index]; }

  /// The DLL's walk, the repairs, and what it does not show.
  UnshownOutcome read() {
    auto result = image_.walk();
    communicators_ = std::move(result.communicators);
    UnshownOutcome outcome;
    image_.look([&](const AddressSpace& space) {
      MpiLibrary mpi;
      mpi.provider = "recorder";
      EXPECT_TRUE(repair(communicators_, mpi, space));
      auto added = support_of("recorder").add_unshown(communicators_, {}, space);
      ASSERT_TRUE(added);
      outcome = std::move(*added);
    });
    return outcome;
  }

  const Operation& at(OpClass op_class, std::size_t index) {
    return communicators_.at(0).queue(op_class).operations.at(index);
  }

  LayoutImage image_;
  std::vector<Communicator> communicators_;

private:
  std::uint64_t last_thread_ = 0;
  std::uint32_t threads_ = 0;
};

INSTANTIATE_TEST_SUITE_P(, Recorded, testing::ValuesIn(test_platforms()),
                         [](const auto& of) { return platform_name(of.param); });

TEST_P(Recorded, OperationsAreCompletedFromTheirNodes) {
  PUT(image_, operation(0), mqr_operation, request, 0xf1000000);
  PUT(image_, operation(0), mqr_operation, number, 41);
  PUT(image_, operation(0), mqr_operation, site, 0xf0001234);
  PUT(image_, operation(0), mqr_operation, wait, 6);
  PUT(image_, operation(2), mqr_operation, wait, 5); // of a call that has returned
  add_thread({.thread = 4711, .function = MQR_Waitany, .wait = 6, .needed = 1, .unseen = 2});
  const auto outcome = read();
  EXPECT_FALSE(outcome.damage) << outcome.damage->message;
  EXPECT_FALSE(outcome.lacking);
  ASSERT_THAT(communicators_, SizeIs(2));
  const auto& send = at(OpClass::send, 0);
  EXPECT_EQ(send.kind, OpKind::send);
  EXPECT_EQ(send.status, OpStatus::pending);
  EXPECT_EQ(send.request, TargetAddress{0xf1000000});
  EXPECT_EQ(send.sequence, 41U);
  ASSERT_TRUE(send.site);
  EXPECT_EQ(*send.site, CallSite{TargetAddress{0xf0001234}});
  EXPECT_EQ(send.waited.group, 6U);
  EXPECT_EQ(send.waited.count, 1U);
  EXPECT_EQ(send.waited.mode, WaitMode::any);
  EXPECT_TRUE(send.waited.unseen);
  EXPECT_EQ(*send.call, "MPI_Function");
  EXPECT_THAT(send.text, ElementsAre("MPI_Function")) << "the node's address is nobody's";
  const auto& inactive = at(OpClass::receive, 0);
  EXPECT_EQ(inactive.status, OpStatus::inactive);
  EXPECT_EQ(inactive.raw.status, 2) << "the interface has no word for it";
  EXPECT_FALSE(inactive.request);
  EXPECT_EQ(inactive.site, nullptr);
  const auto& probe = at(OpClass::receive, 1);
  EXPECT_EQ(probe.kind, OpKind::probe);
  EXPECT_FALSE(probe.buffer);
  EXPECT_FALSE(probe.length.value) << "a probe has none";
  EXPECT_FALSE(probe.waited) << "nobody has that number any more";
  EXPECT_EQ(at(OpClass::receive, 2).kind, OpKind::mprobe);
  EXPECT_EQ(at(OpClass::unexpected, 0).kind, OpKind::message);
}

TEST_P(Recorded, ReturnedSendsAreNamedFromTheRing) {
  const auto ring = image_.place(MQR_RETURNED * sizeof(mqr_returned));
  for (std::size_t i = 0; i < MQR_RETURNED; ++i)
    PUT(image_, ring + i * sizeof(mqr_returned), mqr_returned, peer, MQR_NO_PEER);
  PUT(image_, ring, mqr_returned, peer, 2);
  PUT(image_, ring, mqr_returned, tag, -7);
  PUT(image_, ring, mqr_returned, length, 64);
  PUT(image_, ring, mqr_returned, number, 40);
  PUT(image_, ring, mqr_returned, function, MQR_Bsend);
  PUT(image_, ring, mqr_returned, site, 0xf0001300);
  PUT(image_, image_.communicators[0], mqr_communicator, returned_sends, ring);
  PUT(image_, image_.communicators[0], mqr_communicator, returned, 1);
  EXPECT_FALSE(read().damage);
  ASSERT_THAT(communicators_[0].queue(OpClass::send).operations, SizeIs(2));
  const auto& returned = at(OpClass::send, 1);
  EXPECT_EQ(returned.status, OpStatus::complete);
  EXPECT_EQ(returned.kind, OpKind::send);
  EXPECT_EQ(returned.sequence, 40U);
  EXPECT_EQ(*returned.call, "MPI_Bsend");
  EXPECT_EQ(returned.delivery, Delivery::not_known);
  EXPECT_FALSE(returned.request);
  EXPECT_FALSE(returned.buffer);
  ASSERT_TRUE(returned.site);
  EXPECT_EQ(returned.site->address, TargetAddress{0xf0001300});
}

TEST_P(Recorded, ThreadsAreInTheCallsThatTheyEntered) {
  const auto world = image_.communicators[0];
  add_thread({.thread = 1,
              .function = MQR_Bcast,
              .communicator = world,
              .site = 0xf0001234,
              .sequence = 4'294'967'295,
              .root = 2,
              .wait = 3,
              .needed = 1});
  add_thread({.thread = 2});                                     // in none
  add_thread({.thread = 3, .function = MQR_Send, .changes = 5}); // in the middle of a change
  add_thread(
      {.thread = 4, .function = MQR_Barrier, .communicator = 0xf0000123, .root = MQR_IS_ROOT});
  add_thread({.thread = 5, .function = MQR_FUNCTION_NUMBERS + 9});
  const auto calls = read().calls;
  ASSERT_THAT(calls, SizeIs(3)); // the last one is the first of the list
  EXPECT_EQ(calls[0].thread, 5);
  EXPECT_EQ(calls[0].call, "an MPI function");
  EXPECT_EQ(calls[1].call, "MPI_Barrier");
  EXPECT_EQ(calls[1].communicator, std::nullopt);
  EXPECT_EQ(calls[1].root, std::nullopt);
  EXPECT_EQ(calls[1].sequence, std::nullopt);
  EXPECT_EQ(calls[1].group, 0U);
  const auto& bcast = calls[2];
  EXPECT_EQ(bcast.call, "MPI_Bcast");
  EXPECT_EQ(bcast.communicator, TargetAddress{1});
  EXPECT_EQ(bcast.sequence, 4'294'967'295);
  EXPECT_EQ(bcast.root, 2);
  EXPECT_EQ(bcast.group, 3U);
  ASSERT_TRUE(bcast.site);
  EXPECT_EQ(bcast.site->address, TargetAddress{0xf0001234});
}

TEST_P(Recorded, CommunicatorsHaveTheirCountersAndCollectives) {
  add_channels(0, {{2, 17, 5, 0}, {0, MQR_OTHER_TAGS, 4'294'967'295, 1}, {2, -1, 0, 9}}, 8);
  add_thread({.thread = 1, .function = MQR_Waitall, .wait = 12, .needed = 3});
  add_collective(MQR_Ibcast, 12);
  const auto outcome = read();
  EXPECT_FALSE(outcome.damage) << outcome.damage->message;
  ASSERT_TRUE(communicators_[0].recorded);
  const auto& recorded = *communicators_[0].recorded;
  EXPECT_TRUE(recorded.whole);
  EXPECT_EQ(recorded.collectives, 9);
  ASSERT_THAT(recorded.channels, SizeIs(3));
  EXPECT_EQ(recorded.channels[0].peer, 2);
  EXPECT_EQ(recorded.channels[0].tag, 17);
  EXPECT_EQ(recorded.channels[0].sent, 5U);
  EXPECT_EQ(recorded.channels[1].tag, std::nullopt);
  EXPECT_EQ(recorded.channels[1].sent, 4'294'967'295U);
  EXPECT_EQ(recorded.channels[2].tag, -1);
  EXPECT_EQ(recorded.channels[2].received, 9U);
  ASSERT_THAT(recorded.under_way, SizeIs(1));
  const auto& collective = recorded.under_way[0];
  EXPECT_EQ(collective.call, "MPI_Ibcast");
  EXPECT_EQ(collective.sequence, 8);
  EXPECT_EQ(collective.root, 2);
  EXPECT_EQ(collective.request, TargetAddress{0xf2000000});
  EXPECT_EQ(collective.waited.group, 12U);
  EXPECT_EQ(collective.waited.mode, WaitMode::all);
  EXPECT_EQ(collective.site->address, TargetAddress{0xf0001234});
  const auto& inter = communicators_[1];
  EXPECT_TRUE(inter.recorded->whole);
  EXPECT_THAT(inter.recorded->channels, IsEmpty());
  EXPECT_EQ(inter.kind, CommunicatorKind::inter);
  EXPECT_THAT(*inter.group, ElementsAre(1, 4));
  EXPECT_THAT(*inter.remote.ranks, ElementsAre(5, 6, 7));
  EXPECT_EQ(communicators_[0].kind, CommunicatorKind::intra);
}

TEST_P(Recorded, WhatHasArrivedOnlyTheSendersTell) {
  read();
  const auto& unexpected = communicators_[0].queue(OpClass::unexpected);
  EXPECT_EQ(unexpected.state, QueueState::unavailable);
  EXPECT_EQ(unexpected.reason, QueueReason::senders_unseen);
  EXPECT_THAT(unexpected.operations, SizeIs(1)) << "MPI_Mprobe has taken one";
  EXPECT_TRUE(communicators_[0].recorded) << "job level is to tell";
  PUT(image_, image_.root, mqr_root, library, 0); // the bare core: who fills it says what arrived
  read();
  EXPECT_EQ(communicators_[0].queue(OpClass::unexpected).state, QueueState::available);
  EXPECT_FALSE(communicators_[0].recorded) << "job level leaves it alone";
}

TEST_P(Recorded, AnIdThatItsMembersHaveNotAgreedOnIsNoContext) {
  PUT(image_, image_.communicators[1], mqr_communicator, flags, MQR_ID_LOCAL);
  read();
  EXPECT_EQ(communicators_[0].context, 1U);
  EXPECT_EQ(communicators_[1].context, std::nullopt);
}

TEST_P(Recorded, WhatItDidNotSeeIsSaid) {
  const std::vector<std::pair<int, const char*>> cases = {
      {MQR_OFF, "recorder.off"}, {MQR_GAPS, "recorder.gaps"}, {MQR_OFF | MQR_GAPS, "recorder.off"}};
  for (const auto& [flags, code] : cases) {
    PUT(image_, image_.root, mqr_root, flags, flags);
    const auto outcome = read();
    ASSERT_TRUE(outcome.lacking);
    EXPECT_EQ(outcome.lacking->code, code);
    EXPECT_THAT(outcome.lacking->hint, HasSubstr("MPI_Pcontrol"));
    for (const auto& communicator : communicators_) {
      EXPECT_FALSE(communicator.recorded->whole);
      EXPECT_EQ(communicator.queue(OpClass::send).state, QueueState::error);
      EXPECT_EQ(communicator.queue(OpClass::send).reason, QueueReason::not_recorded);
    }
    EXPECT_EQ(at(OpClass::send, 0).sequence, 0U) << "what is there stays";
  }
}

TEST_P(Recorded, CountersThatLackMessagesAreNotWhole) {
  PUT(image_, image_.communicators[0], mqr_communicator, flags, MQR_INCOMPLETE);
  EXPECT_FALSE(read().damage);
  EXPECT_FALSE(communicators_[0].recorded->whole);
  EXPECT_TRUE(communicators_[1].recorded->whole);
  EXPECT_EQ(communicators_[0].queue(OpClass::send).state, QueueState::available);
  PUT(image_, image_.communicators[0], mqr_communicator, flags, 0);
  PUT(image_, image_.root, mqr_root, generation, 7); // in the middle of an update
  EXPECT_FALSE(read().damage);
  EXPECT_FALSE(communicators_[1].recorded->whole);
}

TEST_P(Recorded, DamageEndsInAWarningAndNothingIsWhole) {
  const auto table = add_channels(0, {{2, 17, 5, 0}}, 4);
  const auto thread = add_thread({.thread = 1, .function = MQR_Send});
  const auto collective = add_collective(MQR_Ibarrier, 0);
  const struct {
    const char* what;
    std::uint64_t address;
    std::uint64_t value, sound;
    bool counters; ///< those of the world are damaged
  } cases[] = {
      {"no table", table, 0, MQR_MAGIC_CHANNELS, true},
      {"no power of two", table + offsetof(mqr_channels, capacity), 3, 4, true},
      {"a giant", table + offsetof(mqr_channels, capacity), 1U << 31, 4, true},
      {"behind its memory", table + offsetof(mqr_channels, capacity), 1U << 16, 4, true},
      {"a peer that there is not", table + sizeof(mqr_channels) + sizeof(mqr_channel), 3, 2, true},
      {"no thread", thread, 0, MQR_MAGIC_THREAD, false},
      {"more threads", image_.root + offsetof(mqr_root, threads) + offsetof(mqr_list, count), 9, 1,
       false},
      {"no collective", collective, 1, MQR_MAGIC_COLLECTIVE, true},
  };
  EXPECT_FALSE(read().damage);
  for (const auto& [what, address, value, sound, counters] : cases) {
    image_.set(address, value, 4);
    const auto outcome = read();
    ASSERT_TRUE(outcome.damage) << what;
    EXPECT_EQ(outcome.damage->code, "queue.damaged") << what;
    EXPECT_EQ(communicators_[0].recorded->whole, !counters) << what;
    EXPECT_TRUE(communicators_[1].recorded->whole) << what;
    image_.set(address, sound, 4);
  }
  EXPECT_FALSE(read().damage);
}

TEST_P(Recorded, CyclesComeToAnEnd) {
  const auto collective = add_collective(MQR_Ibarrier, 0);
  PUT(image_, collective, mqr_collective, node.next, collective);
  const auto thread = add_thread({.thread = 1, .function = MQR_Send});
  PUT(image_, thread, mqr_thread, node.next, thread);
  const auto outcome = read();
  ASSERT_TRUE(outcome.damage);
  EXPECT_THAT(communicators_[0].recorded->under_way, SizeIs(1));
  EXPECT_THAT(outcome.calls, SizeIs(1));
}

TEST_P(Recorded, TheProcessSaysWhereItStands) {
  image_.look([](const AddressSpace& space) {
    EXPECT_EQ(recorder::read_state(space).value(), MpiState::initialized);
    EXPECT_EQ(recorder::read_thread_level(space).value(), ThreadLevel::serialized);
    EXPECT_EQ(recorder::read_library(space).value(), "Some MPI 7.1");
  });
  add_thread({.thread = 1, .function = MQR_Finalize});
  EXPECT_EQ(image_.read_state(), MpiState::finalizing);
  PUT(image_, image_.root, mqr_root, library, LayoutImage::unmapped);
  image_.look(
      [](const AddressSpace& space) { EXPECT_EQ(recorder::read_library(space).value(), ""); });
}

/// Version 1.0 had shorter structures: what lies behind them is something else.
TEST_P(Recorded, AnOlderRecorderHasNoCounters) {
  PUT(image_, image_.root, mqr_root, root_size, MQR_ROOT_SIZE_1_0);
  PUT(image_, image_.root, mqr_root, communicator_size, MQR_COMMUNICATOR_SIZE_1_0);
  PUT(image_, image_.root, mqr_root, operation_size, MQR_OPERATION_SIZE_1_0);
  PUT(image_, operation(0), mqr_operation, site, 0xf0001234);
  add_thread({.thread = 1, .function = MQR_Send});
  const auto outcome = read();
  EXPECT_FALSE(outcome.damage) << outcome.damage->message;
  EXPECT_THAT(outcome.calls, IsEmpty());
  ASSERT_THAT(communicators_, SizeIs(2));
  EXPECT_FALSE(communicators_[0].recorded);
  EXPECT_EQ(at(OpClass::send, 0).site, nullptr);
  EXPECT_EQ(at(OpClass::send, 0).kind, OpKind::send);
  EXPECT_EQ(communicators_[0].queue(OpClass::unexpected).state, QueueState::available);
  EXPECT_EQ(communicators_[1].kind, CommunicatorKind::inter);
}

TEST_P(Recorded, TheWorldIsKnownByItsId) {
  read();
  EXPECT_TRUE(support_of("recorder").is_world(communicators_[0])) << "the program renamed it";
  EXPECT_FALSE(support_of("recorder").is_world(communicators_[1]));
}

} // namespace
} // namespace mqbridge
