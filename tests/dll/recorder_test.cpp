// The recorder's core in this very process, read back by mqbridge's own DLL.

#include "dll/recorder/recorder.h"
#include "tests/dll/walks.h"
#include "tests/mqs/process_memory.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <set>
#include <thread>
#include <unistd.h>

namespace mqbridge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

WalkResult walk_self() {
  auto images = images_of_process(::getpid()).value();
  ProcessMemory memory(::getpid());
  return walk_recorder({images, memory, own_platform()});
}

class Recorder : public testing::Test {
protected:
  void SetUp() override { ASSERT_EQ(mqr_init(nullptr), MQR_OK); }
  void TearDown() override { mqr_finalize(); }

  mqr_recorded_communicator* add(const char* name, std::int32_t size = 4) {
    const std::vector<std::int32_t> group = {3, 2, 1, 0};
    const mqr_communicator_spec spec = {name, next_id_++, 1, size, group.data(), 0, nullptr, 0};
    mqr_recorded_communicator* added = nullptr;
    EXPECT_EQ(mqr_communicator_add(&spec, &added), MQR_OK);
    return added;
  }

  static mqr_operation_spec operation(mqr_queue queue, std::int32_t peer, std::int32_t tag) {
    mqr_operation_spec spec = {};
    spec.queue = queue;
    spec.peer = peer;
    spec.tag = tag;
    return spec;
  }

  static mqr_recorded_operation* begin(mqr_recorded_communicator* communicator, mqr_queue queue,
                                       std::int32_t peer, std::int32_t tag) {
    const auto spec = operation(queue, peer, tag);
    mqr_recorded_operation* begun = nullptr;
    EXPECT_EQ(mqr_operation_begin(communicator, &spec, &begun), MQR_OK);
    return begun;
  }

private:
  std::uint64_t next_id_ = 1;
};

TEST_F(Recorder, WhatWasRecordedIsRead) {
  auto* const world = add("MPI_COMM_WORLD");
  begin(world, MQR_SEND, 2, 17);
  auto* const receive = begin(world, MQR_RECEIVE, MQR_ANY_SOURCE, 18);
  begin(world, MQR_UNEXPECTED, 0, 19);
  EXPECT_EQ(mqr_operation_match(receive, 3, 18, 1000), MQR_OK);
  const auto result = walk_self();
  ASSERT_FALSE(result.failure) << result.failure->message;
  ASSERT_THAT(result.communicators, SizeIs(1));
  const auto& found = result.communicators[0];
  EXPECT_THAT(*found.group, ElementsAre(3, 2, 1, 0));
  EXPECT_EQ(found.queue(OpClass::send).operations.at(0).raw.desired_global_rank, 1);
  const auto& matched = found.queue(OpClass::receive).operations.at(0);
  EXPECT_EQ(matched.status, OpStatus::matched);
  EXPECT_EQ(matched.raw.actual_global_rank, 0);
  EXPECT_EQ(matched.actual->length, 1000);
  EXPECT_EQ(found.queue(OpClass::unexpected).operations.at(0).tag.value, 19);
}

TEST_F(Recorder, QueuesKeepTheirOrderWhateverLeaves) {
  auto* const world = add("MPI_COMM_WORLD");
  std::vector<mqr_recorded_operation*> all;
  for (int tag = 0; tag < 6; ++tag)
    all.push_back(begin(world, MQR_RECEIVE, 0, tag));
  for (const std::size_t leaves : {0U, 5U, 2U})
    mqr_operation_remove(all[leaves]);
  begin(world, MQR_RECEIVE, 0, 6);
  std::vector<std::int64_t> tags;
  const auto result = walk_self();
  for (const auto& operation : result.communicators.at(0).queue(OpClass::receive).operations)
    tags.push_back(operation.tag.value.value_or(-1));
  EXPECT_THAT(tags, ElementsAre(1, 3, 4, 6));
}

TEST_F(Recorder, CommunicatorsComeGoAndChangeTheirNames) {
  auto* const first = add("first");
  add("second");
  add(nullptr);
  EXPECT_EQ(mqr_communicator_rename(first, std::string(300, 'x').c_str()), MQR_OK);
  auto result = walk_self();
  ASSERT_THAT(result.communicators, SizeIs(3));
  EXPECT_EQ(result.communicators[0].name, std::string(63, 'x'));
  EXPECT_EQ(result.communicators[2].name, "");
  mqr_communicator_free(first);
  result = walk_self();
  ASSERT_THAT(result.communicators, SizeIs(2));
  EXPECT_EQ(result.communicators[0].name, "second");
}

TEST_F(Recorder, TextsEndAlthoughTheirCallerDoesNotSayWhere) {
  auto* const world = add("MPI_COMM_WORLD");
  auto spec = operation(MQR_SEND, 0, 0);
  mqr_word name;
  std::fill(std::begin(name.text), std::end(name.text), 'c');
  spec.datatype = &name;
  spec.count = 2;
  mqr_recorded_operation* begun = nullptr;
  ASSERT_EQ(mqr_operation_begin(world, &spec, &begun), MQR_OK);
  const std::string cut(MQR_WORD_SIZE - 1, 'c');
  EXPECT_THAT(walk_self().communicators.at(0).queue(OpClass::send).operations.at(0).text,
              ElementsAre("2 x " + cut, HasSubstr("node 0x")));
}

TEST_F(Recorder, RefusesWhatMakesNoSense) {
  const mqr_communicator_spec bad[] = {
      {"size 0", 1, 0, 0, nullptr, 0, nullptr, 0},
      {"size -1", 1, 0, -1, nullptr, 0, nullptr, 0},
      {"rank -1", 1, -1, 2, nullptr, 0, nullptr, 0},
      {"rank 2", 1, 2, 2, nullptr, 0, nullptr, 0},
      {"remote -1", 1, 0, 2, nullptr, -1, nullptr, 0},
      {"size", 1, 0, MQR_MAX_GROUP + 1, nullptr, 0, nullptr, 0},
  };
  mqr_recorded_communicator* added = nullptr;
  for (const auto& spec : bad)
    EXPECT_EQ(mqr_communicator_add(&spec, &added), MQR_BAD_VALUE) << spec.name;
  auto* const world = add("MPI_COMM_WORLD");
  const auto spec = operation(static_cast<mqr_queue>(3), 0, 0);
  mqr_recorded_operation* begun = nullptr;
  EXPECT_EQ(mqr_operation_begin(world, &spec, &begun), MQR_BAD_VALUE);
  EXPECT_EQ(mqr_init(nullptr), MQR_BAD_STATE);
}

TEST_F(Recorder, StatusesGoForwardOnly) {
  auto* const world = add("MPI_COMM_WORLD");
  auto* const send = begin(world, MQR_SEND, 0, 0);
  auto* const receive = begin(world, MQR_RECEIVE, 0, 0);
  auto* const unexpected = begin(world, MQR_UNEXPECTED, 0, 0);
  EXPECT_EQ(mqr_operation_match(send, 0, 0, 0), MQR_BAD_STATE);
  EXPECT_EQ(mqr_operation_match(unexpected, 0, 0, 0), MQR_BAD_STATE);
  EXPECT_EQ(mqr_operation_complete(unexpected), MQR_BAD_STATE);
  EXPECT_EQ(mqr_operation_complete(receive), MQR_BAD_STATE);
  EXPECT_EQ(mqr_operation_match(receive, 0, 0, 0), MQR_OK);
  EXPECT_EQ(mqr_operation_match(receive, 0, 0, 0), MQR_BAD_STATE);
  EXPECT_EQ(mqr_operation_complete(receive), MQR_OK);
  EXPECT_EQ(mqr_operation_complete(send), MQR_OK);
}

TEST_F(Recorder, AFreedCommunicatorGoesWithTheLastOfItsOperations) {
  auto* const world = add("MPI_COMM_WORLD");
  auto* const send = begin(world, MQR_SEND, 0, 0);
  auto* const receive = begin(world, MQR_RECEIVE, 0, 0);
  mqr_communicator_free(world);
  EXPECT_THAT(walk_self().communicators, SizeIs(1));
  mqr_send_end(send, 0);
  EXPECT_EQ(walk_self().communicators.at(0).queue(OpClass::receive).total, 1U);
  mqr_operation_remove(receive);
  EXPECT_THAT(walk_self().communicators, IsEmpty());
}

TEST(RecorderState, BeforeAndAfterThereAreNoQueues) {
  const mqr_communicator_spec spec = {"early", 1, 0, 1, nullptr, 0, nullptr, 0};
  mqr_recorded_communicator* added = nullptr;
  EXPECT_EQ(mqr_communicator_add(&spec, &added), MQR_BAD_STATE);
  ASSERT_EQ(mqr_init(nullptr), MQR_OK);
  EXPECT_EQ(mqr_communicator_add(&spec, &added), MQR_OK);
  mqr_finalize();
  mqr_finalize();
  const auto result = walk_self();
  ASSERT_TRUE(result.failure);
  EXPECT_THAT(result.failure->message, HasSubstr("finalized"));
  ASSERT_EQ(mqr_init(nullptr), MQR_OK);
  EXPECT_FALSE(walk_self().failure);
  mqr_finalize();
}

/// Where 200 operations came to lie, relative to the lowest.
std::vector<std::uintptr_t> places(const mqr_placement& placement) {
  EXPECT_EQ(mqr_init(&placement), MQR_OK);
  const mqr_communicator_spec spec = {"MPI_COMM_WORLD", 1, 0, 1, nullptr, 0, nullptr, 0};
  mqr_recorded_communicator* world = nullptr;
  EXPECT_EQ(mqr_communicator_add(&spec, &world), MQR_OK);
  std::vector<std::uintptr_t> all;
  mqr_operation_spec operation = {};
  for (int i = 0; i < 200; ++i) {
    mqr_recorded_operation* begun = nullptr;
    EXPECT_EQ(mqr_operation_begin(world, &operation, &begun), MQR_OK);
    all.push_back(reinterpret_cast<std::uintptr_t>(begun));
  }
  EXPECT_EQ(walk_self().communicators.at(0).queue(OpClass::send).total, 200U);
  mqr_finalize();
  const auto lowest = *std::min_element(all.begin(), all.end());
  for (auto& place : all)
    place -= lowest;
  EXPECT_THAT(std::set<std::uintptr_t>(all.begin(), all.end()), SizeIs(200));
  return all;
}

std::uintptr_t span_of(const std::vector<std::uintptr_t>& places) {
  return *std::max_element(places.begin(), places.end());
}

TEST(RecorderPlacement, OneAfterTheOther) {
  const auto all = places({0, 1 << 20, 0});
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  EXPECT_LT(span_of(all), 200U * 256);
}

TEST(RecorderPlacement, ShuffledBySeed) {
  const mqr_placement tight = {1, 64 * 1024, 7};
  const auto all = places(tight);
  EXPECT_FALSE(std::is_sorted(all.begin(), all.end()));
  EXPECT_LE(span_of(all), 64U * 1024);
  EXPECT_EQ(places(tight), all);
  EXPECT_NE(places({1, 64 * 1024, 8}), all);
}

TEST(RecorderPlacement, Sparse) {
  for (const std::size_t mebibytes : {1, 4, 64}) {
    const auto all = places({1, mebibytes << 20, 7});
    EXPECT_GT(span_of(all), (mebibytes << 20) / 2) << mebibytes;
    EXPECT_LT(span_of(all), mebibytes << 20) << mebibytes;
  }
}

TEST(RecorderPlacement, AnArenaForOneNodeEach) {
  places({1, 1, 7}); // 200 arenas
}

/// Which thread posted it, and how many it had posted before.
TEST_F(Recorder, ThreadsShareTheQueues) {
  auto* const world = add("MPI_COMM_WORLD");
  constexpr int rounds = 300;
  const auto work = [&](std::int32_t thread) {
    mqr_recorded_operation* previous = nullptr;
    for (int round = 0; round < rounds; ++round) {
      auto* const receive = begin(world, MQR_RECEIVE, thread, round);
      EXPECT_EQ(mqr_operation_match(receive, thread, round, 1), MQR_OK);
      if (previous != nullptr && round % 3 != 0)
        mqr_operation_remove(previous);
      previous = receive;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::int32_t thread = 0; thread < 4; ++thread)
      threads.emplace_back(work, thread);
  }
  const auto result = walk_self();
  ASSERT_FALSE(result.failure) << result.failure->message;
  std::vector<std::int64_t> last(4, -1);
  std::vector<int> count(4);
  for (const auto& operation : result.communicators.at(0).queue(OpClass::receive).operations) {
    ASSERT_TRUE(operation.peer.local_rank && operation.tag.value);
    const auto thread = static_cast<std::size_t>(*operation.peer.local_rank);
    EXPECT_GT(*operation.tag.value, last.at(thread));
    last[thread] = *operation.tag.value;
    ++count[thread];
  }
  // Every third stays, and the last.
  EXPECT_THAT(count, testing::Each(rounds / 3));
}

} // namespace
} // namespace mqbridge
