// What the recorder keeps beside its queues: counters, returned sends, requests, threads with what
// they wait for, collectives. In this very process, read by the layout alone.

#include "dll/recorder/handles.h"
#include "dll/recorder/recorder.h"
#include "tests/dll/kept_state.h"
#include "tests/mqs/process_memory.h"

#include <atomic>
#include <chrono>
#include <fstream>
#include <gmock/gmock.h>
#include <iostream>
#include <map>
#include <pthread.h>
#include <set>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

extern "C" mqr_root mqbridge_recorder;

namespace mqbridge {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

KeptState state_of(pid_t pid) {
  ProcessMemory memory(pid);
  return read_kept(memory, {reinterpret_cast<std::uintptr_t>(&mqbridge_recorder)});
}

class RecorderCalls : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(mqr_init(nullptr), MQR_OK);
    world_ = add(1);
  }
  void TearDown() override {
    mqr_leave();
    EXPECT_THAT(state_of(::getpid()).faults, IsEmpty());
    mqr_finalize();
  }

  static mqr_recorded_communicator* add(std::uint64_t id, std::int32_t size = 1 << 20) {
    const mqr_communicator_spec spec = {"", id, 0, size, nullptr, 0, nullptr, 0};
    mqr_recorded_communicator* added = nullptr;
    EXPECT_EQ(mqr_communicator_add(&spec, &added), MQR_OK);
    return added;
  }

  mqr_recorded_operation* begin(mqr_queue queue, std::int32_t peer, std::int32_t tag,
                                std::uint32_t flags = 0,
                                mqr_recorded_communicator* communicator = nullptr) {
    mqr_operation_spec spec = {};
    spec.queue = queue;
    spec.function = queue == MQR_SEND ? MQR_Isend : MQR_Irecv;
    spec.flags = flags;
    spec.peer = peer;
    spec.tag = tag;
    spec.length = 100 + static_cast<std::uint64_t>(tag);
    spec.site = this;
    mqr_recorded_operation* begun = nullptr;
    EXPECT_EQ(mqr_operation_begin(communicator != nullptr ? communicator : world_, &spec, &begun),
              MQR_OK);
    return begun;
  }

  static KeptCommunicator world() { return state_of(::getpid()).communicators.at(0).second; }

  /// (peer, tag) to (sent, received).
  static std::map<std::pair<int, int>, std::pair<unsigned, unsigned>> channels() {
    std::map<std::pair<int, int>, std::pair<unsigned, unsigned>> all;
    for (const auto& channel : world().channels)
      all[{channel.peer, channel.tag}] = {channel.sent, channel.received};
    return all;
  }

  static std::vector<mqr_returned> returned() {
    auto sends = world().returned;
    std::erase_if(sends, [](const auto& send) { return send.peer == MQR_NO_PEER; });
    return sends;
  }

  static mqr_thread own_thread() {
    for (const auto& thread : state_of(::getpid()).threads)
      if (thread.thread == ::gettid())
        return thread;
    ADD_FAILURE() << "this thread is not there";
    return {};
  }

  static void enter(mqr_function function, mqr_recorded_communicator* on = nullptr) {
    const mqr_call_spec call = {function, nullptr, on, 0, 0, MQR_NO_ROOT};
    mqr_enter(&call);
  }

  mqr_recorded_communicator* world_ = nullptr;
};

TEST_F(RecorderCalls, MessagesAreCountedByPeerAndTag) {
  auto* const first = begin(MQR_SEND, 2, 7);
  begin(MQR_SEND, 2, 7);
  begin(MQR_SEND, 3, 7);
  begin(MQR_SEND, MQR_PROC_NULL, 7);
  mqr_receive_end(begin(MQR_RECEIVE, MQR_ANY_SOURCE, 0, MQR_ANY_TAG), 2, 7, 0);
  mqr_receive_end(begin(MQR_RECEIVE, 2, 8), 2, 8, 1);                       // cancelled
  mqr_receive_end(begin(MQR_RECEIVE, 2, 9), MQR_PROC_NULL, MQR_ANY_TAG, 0); // from nobody
  mqr_receive_end(begin(MQR_RECEIVE, 2, 10, MQR_TAKEN), 2, 10, 0);          // MPI_Mprobe counted it
  mqr_receive_end(begin(MQR_RECEIVE, 2, 11, MQR_PROBE), 2, 11, 0);          // takes nothing
  mqr_receive_end(begin(MQR_RECEIVE, 2, 12, MQR_MPROBE), 2, 12, 0);
  mqr_count_received(world_, 2, 7);
  mqr_send_end(first, 1);
  using Counts = std::pair<unsigned, unsigned>;
  auto all = channels();
  EXPECT_THAT(all, SizeIs(3));
  EXPECT_EQ((all[{2, 7}]), Counts(1, 2));
  EXPECT_EQ((all[{3, 7}]), Counts(1, 0));
  EXPECT_EQ((all[{2, 12}]), Counts(0, 1));
}

TEST_F(RecorderCalls, TheNumberOfASendSaysHowManyWentToThatPeerBefore) {
  for (const int peer : {4, 5, 4, 4})
    begin(MQR_SEND, peer, peer + 1);
  begin(MQR_RECEIVE, 4, 5);
  begin(MQR_RECEIVE, 4, 5);
  std::vector<std::uint32_t> numbers;
  for (const auto queue : {MQR_SEND, MQR_RECEIVE})
    for (const auto& operation : world().queues[queue])
      numbers.push_back(operation.second.number);
  EXPECT_THAT(numbers, ElementsAre(0, 0, 1, 2, 0, 1));
}

/// Which MPI refused, or which was cancelled: it was not sent.
TEST_F(RecorderCalls, ASendThatWasNotSentLeavesNoHoleInTheNumbers) {
  mqr_send_end(begin(MQR_SEND, 4, 0), 0);
  auto* const cancelled = begin(MQR_SEND, 4, 1);
  mqr_send_end(begin(MQR_SEND, 4, 2), 0);
  begin(MQR_SEND, 5, 3);
  begin(MQR_SEND, 4, 4);
  mqr_send_end(begin(MQR_SEND, 4, 5), 1); // the newest
  mqr_send_end(cancelled, 1);
  begin(MQR_SEND, 4, 6);
  std::map<int, std::uint32_t> numbers;
  for (const auto& operation : world().queues[MQR_SEND])
    numbers[operation.second.tag] = operation.second.number;
  for (const auto& send : returned())
    numbers[send.tag] = send.number;
  EXPECT_EQ(numbers, (std::map<int, std::uint32_t>{{0, 0}, {2, 1}, {3, 0}, {4, 2}, {6, 3}}));
  unsigned sent = 0;
  for (const auto& [channel, counts] : channels())
    sent += channel.first == 4 ? counts.first : 0;
  EXPECT_EQ(sent, 4U);
}

TEST_F(RecorderCalls, WhatGoesToNobodyIsNotCounted) {
  for (const int peer : {int{MQR_PROC_NULL}, 1 << 20, (1 << 20) + 99}) {
    mqr_send_end(begin(MQR_SEND, peer, 1), 0);
    mqr_count_received(world_, peer, 1);
  }
  EXPECT_THAT(channels(), IsEmpty());
  EXPECT_THAT(returned(), IsEmpty());
}

TEST_F(RecorderCalls, CountersStayRightHoweverManyThereAre) {
  constexpr int tags = 3000;
  for (int round = 0; round < 3; ++round)
    for (int tag = 0; tag < tags; ++tag)
      mqr_count_received(world_, tag % 17, tag);
  const auto all = channels();
  EXPECT_THAT(all, SizeIs(tags));
  for (const auto& [channel, counts] : all)
    EXPECT_EQ(counts.second, 3U) << channel.second;
}

TEST_F(RecorderCalls, BeyondTheLargestTableTagsShareACounter) {
  constexpr int tags = MQR_MAX_CHANNELS;
  for (int tag = 0; tag < tags; ++tag)
    mqr_count_received(world_, 9, tag);
  const auto all = channels();
  EXPECT_LT(all.size(), tags);
  std::uint64_t received = 0;
  for (const auto& [channel, counts] : all)
    received += counts.second;
  EXPECT_EQ(received, static_cast<std::uint64_t>(tags));
  EXPECT_EQ(all.at({9, MQR_OTHER_TAGS}).second, tags - (all.size() - 1));
  EXPECT_EQ(state_of(::getpid()).root.flags & MQR_GAPS, 0U);
}

TEST_F(RecorderCalls, BeyondTheLargestTableOfPeersCountersSayNothing) {
  for (int peer = 0; peer < MQR_MAX_CHANNELS; ++peer)
    mqr_count_received(world_, peer, 1);
  EXPECT_EQ(state_of(::getpid()).root.flags & MQR_GAPS, std::uint32_t{MQR_GAPS});
  EXPECT_LT(channels().size(), std::size_t{MQR_MAX_CHANNELS});
}

TEST_F(RecorderCalls, SendsThatHaveReturnedStayInARing) {
  for (int tag = 0; tag < 300; ++tag)
    mqr_send_end(begin(MQR_SEND, tag % 2, tag), 0);
  const auto sends = returned();
  ASSERT_THAT(sends, SizeIs(MQR_RETURNED));
  for (int i = 0; i < MQR_RETURNED; ++i) {
    const int tag = 300 - MQR_RETURNED + i;
    const auto& send = sends[static_cast<std::size_t>(i)];
    EXPECT_EQ(send.tag, tag);
    EXPECT_EQ(send.length, 100U + static_cast<unsigned>(tag));
    EXPECT_EQ(send.number, static_cast<unsigned>(tag / 2));
    EXPECT_EQ(send.function, std::uint32_t{MQR_Isend});
    EXPECT_EQ(send.site.word, reinterpret_cast<std::uintptr_t>(this));
  }
  EXPECT_EQ(world().raw.returned, 300U);
  mqr_flush();
  EXPECT_THAT(returned(), IsEmpty());
  EXPECT_EQ(world().raw.returned, 300U);
  mqr_send_end(begin(MQR_SEND, 1, 999), 0);
  ASSERT_THAT(returned(), SizeIs(1));
  EXPECT_EQ(returned()[0].tag, 999);
  mqr_send_end(begin(MQR_SEND, MQR_PROC_NULL, 1), 0);
  mqr_send_end(begin(MQR_SEND, 1, 1), 1);
  EXPECT_THAT(returned(), SizeIs(1)) << "neither one to nobody nor one that was cancelled";
}

TEST_F(RecorderCalls, PersistentOperationsStayAndAreStartedAnew) {
  auto* const send = begin(MQR_SEND, 1, 5, MQR_INACTIVE);
  auto* const receive = begin(MQR_RECEIVE, 1, 5, MQR_INACTIVE);
  EXPECT_TRUE(mqr_operation_is_persistent(send));
  EXPECT_FALSE(mqr_operation_is_active(send));
  EXPECT_EQ(mqr_operation_queue(receive), MQR_RECEIVE);
  EXPECT_THAT(channels(), IsEmpty()) << "nothing was sent yet";
  for (unsigned round = 1; round <= 3; ++round) {
    auto* const other = begin(MQR_SEND, 1, 6);
    mqr_operation_start(send);
    mqr_operation_start(receive);
    EXPECT_TRUE(mqr_operation_is_active(send));
    EXPECT_EQ(world().queues[MQR_SEND].back().second.tag, 5) << "it was posted last";
    EXPECT_EQ(world().queues[MQR_SEND].back().second.number, 2 * round - 1);
    mqr_send_end(send, 0);
    mqr_receive_end(receive, 1, 5, 0);
    mqr_operation_remove(other);
    EXPECT_FALSE(mqr_operation_is_active(receive));
    EXPECT_EQ((channels()[{1, 5}]), (std::pair<unsigned, unsigned>(round, round)));
    EXPECT_THAT(returned(), SizeIs(round));
  }
  mqr_operation_remove(send);
  mqr_operation_remove(receive);
  EXPECT_THAT(world().queues[MQR_SEND], IsEmpty());
}

TEST_F(RecorderCalls, OperationsAreFoundByTheirRequests) {
  constexpr std::size_t count = 5000;
  std::vector<char> handles(count);
  std::vector<mqr_recorded_operation*> operations;
  for (std::size_t i = 0; i < count; ++i) {
    operations.push_back(begin(MQR_RECEIVE, 1, 1));
    mqr_request_add(&handles[i], operations[i]);
  }
  EXPECT_EQ(world().queues[MQR_RECEIVE][7].second.request.word,
            reinterpret_cast<std::uintptr_t>(&handles[7]));
  for (std::size_t i = 0; i < count; ++i)
    ASSERT_EQ(mqr_request_find(&handles[i]), operations[i]) << i;
  for (std::size_t i = 0; i < count; i += 2)
    mqr_operation_remove(operations[i]);
  for (std::size_t i = 0; i < count; ++i)
    ASSERT_EQ(mqr_request_find(&handles[i]), i % 2 == 0 ? nullptr : operations[i]) << i;
  EXPECT_EQ(mqr_request_find(nullptr), nullptr);
  EXPECT_EQ(mqr_request_find(this), nullptr);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
std::size_t resident_bytes() {
  std::size_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// With its share of everything: the largest just behind a power of two, when the table of requests
/// has grown.
TEST_F(RecorderCalls, APendingOperationTakesNoMoreThan192Bytes) {
  constexpr std::size_t most = (1 << 18) + 2;
  std::vector<char> handles(most, 1);
  for (const std::size_t count : {most - 1000, most}) {
    const auto before = resident_bytes();
    for (std::size_t i = 0; i < count; ++i)
      mqr_request_add(&handles[i], begin(MQR_RECEIVE, 1, 1));
    const auto taken = resident_bytes() - before;
    EXPECT_LE(taken, 192 * count);
    EXPECT_GE(taken, sizeof(mqr_operation) * count);
    std::cout << count << " operations: " << static_cast<double>(taken) / static_cast<double>(count)
              << " bytes each\n";
    TearDown();
    SetUp();
  }
}

/// In a process of its own, which may have so much more memory: it fills it with operations.
TEST_F(RecorderCalls, WithoutMemoryThereIsAGapAndNothingIsBroken) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::ifstream size_file("/proc/self/statm");
    std::size_t pages = 0;
    size_file >> pages;
    const std::size_t now = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const rlimit limit = {now + (16 << 20), now + (16 << 20)};
    ::setrlimit(RLIMIT_AS, &limit);
    mqr_operation_spec spec = {};
    mqr_recorded_operation* begun = nullptr;
    std::size_t count = 0;
    for (; mqr_operation_begin(world_, &spec, &begun) == MQR_OK; ++count)
      mqr_request_add(begun, begun);
    mqr_recorded_operation* const first = mqr_request_find(nullptr);
    mqr_count_received(world_, 1, 1);
    const rlimit none = {RLIM_INFINITY, limit.rlim_max};
    ::setrlimit(RLIMIT_AS, &none);
    const bool gap = (mqbridge_recorder.flags & MQR_GAPS) != 0;
    ::_exit(begun == nullptr && first == nullptr && gap && count > 10'000 ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}
#endif

// A program that frees the requests of its receives, as many as it likes: nothing tells the
// recorder when their messages come.
TEST_F(RecorderCalls, OfReceivesWhoseRequestIsFreedTheNewestAreKeptAndTheRestIsSaid) {
  std::vector<char> handles(MQR_MAX_FREED + 10);
  auto* const waited = begin(MQR_RECEIVE, 1, 77'777);
  const auto free_one = [&](int tag) {
    auto* const receive = begin(MQR_RECEIVE, 1, tag);
    mqr_request_add(&handles.at(static_cast<std::size_t>(tag)), receive);
    mqr_operation_free_request(mqr_request_take(&handles.at(static_cast<std::size_t>(tag))));
  };
  for (int tag = 0; tag < MQR_MAX_FREED; ++tag)
    free_one(tag);
  EXPECT_EQ(state_of(::getpid()).root.flags, 0U);
  for (int tag = MQR_MAX_FREED; tag < MQR_MAX_FREED + 10; ++tag)
    free_one(tag);
  EXPECT_EQ(state_of(::getpid()).root.flags, std::uint32_t{MQR_GAPS});
  std::vector<int> tags;
  const auto kept = world();
  for (const auto& [address, receive] : kept.queues[MQR_RECEIVE])
    tags.push_back(receive.tag);
  ASSERT_THAT(tags, SizeIs(MQR_MAX_FREED + 1));
  EXPECT_EQ(tags.at(0), 77'777); // not freed: it stays
  EXPECT_EQ(tags.at(1), 10);
  EXPECT_EQ(tags.back(), MQR_MAX_FREED + 9);
  mqr_receive_end(waited, 1, 77'777, 0);
}

// A communicator that the program has freed goes with the last receive that is kept of it.
TEST_F(RecorderCalls, ManyFreedCommunicatorsWithFreedReceivesGoWithThem) {
  std::vector<char> handles(3 * MQR_MAX_FREED);
  for (auto& handle : handles) {
    auto* const communicator = add(2, 4);
    auto* const receive = begin(MQR_RECEIVE, 1, 1, 0, communicator);
    mqr_request_add(&handle, receive);
    mqr_operation_free_request(mqr_request_take(&handle));
    mqr_communicator_free(communicator);
  }
  EXPECT_EQ(mqbridge_recorder.communicators.count, 1U + MQR_MAX_FREED);
}

TEST_F(RecorderCalls, EachListHasABoundAndBeyondItThereIsAGap) {
  const auto has_gap = [] { return (mqbridge_recorder.flags & MQR_GAPS) != 0; };
  const auto no_gap = [] { mqbridge_recorder.flags = 0; };
  std::vector<mqr_recorded_operation*> operations(MQR_MAX_OPERATIONS);
  mqr_recorded_operation* refused = nullptr;
  const mqr_operation_spec receive = {MQR_RECEIVE, MQR_Irecv, 0, 1,       1,      8,
                                      nullptr,     nullptr,   0, nullptr, nullptr};
  for (auto& operation : operations)
    ASSERT_EQ(mqr_operation_begin(world_, &receive, &operation), MQR_OK);
  EXPECT_FALSE(has_gap());
  EXPECT_EQ(mqr_operation_begin(world_, &receive, &refused), MQR_NO_MEMORY);
  EXPECT_TRUE(has_gap());
  for (auto* const operation : operations)
    mqr_operation_remove(operation);
  EXPECT_EQ(mqr_operation_begin(world_, &receive, &refused), MQR_OK); // there is room again
  mqr_operation_remove(refused);

  no_gap();
  std::vector<mqr_recorded_collective*> collectives(MQR_MAX_COLLECTIVES);
  const mqr_collective_spec barrier = {MQR_Ibarrier, 0, MQR_NO_ROOT, nullptr, nullptr};
  for (auto& collective : collectives)
    ASSERT_EQ(mqr_collective_begin(world_, &barrier, &collective), MQR_OK);
  EXPECT_FALSE(has_gap());
  mqr_recorded_collective* refused_collective = nullptr;
  EXPECT_EQ(mqr_collective_begin(world_, &barrier, &refused_collective), MQR_NO_MEMORY);
  EXPECT_TRUE(has_gap());
  for (auto* const collective : collectives)
    mqr_collective_end(collective);

  no_gap();
  std::vector<mqr_recorded_communicator*> communicators(MQR_MAX_COMMUNICATORS - 1); // and the world
  for (auto& communicator : communicators)
    communicator = add(2, 4);
  EXPECT_FALSE(has_gap());
  const mqr_communicator_spec spec = {"", 2, 0, 4, nullptr, 0, nullptr, 0};
  mqr_recorded_communicator* refused_communicator = nullptr;
  EXPECT_EQ(mqr_communicator_add(&spec, &refused_communicator), MQR_NO_MEMORY);
  EXPECT_TRUE(has_gap());
  for (auto* const communicator : communicators)
    mqr_communicator_free(communicator);
}

// In a process of its own: nodes of threads stay.
TEST_F(RecorderCalls, MoreThreadsThanAreKeptAreAGap) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::atomic<int> there = 0;
    const auto call = [&there] {
      enter(MQR_Recv);
      ++there;
      ::pause();
    };
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    const auto start = [](void* body) -> void* {
      (*static_cast<const decltype(call)*>(body))();
      return nullptr;
    };
    pthread_t thread{};
    const bool before = mqbridge_recorder.flags == 0;
    for (int i = 0; i < MQR_MAX_THREADS + 1; ++i)
      if (pthread_create(&thread, &small, start,
                         const_cast<void*>(static_cast<const void*>(&call))))
        ::_exit(2);
    while (there < MQR_MAX_THREADS + 1)
      std::this_thread::yield();
    ::_exit(before && mqbridge_recorder.threads.count == MQR_MAX_THREADS &&
                    mqbridge_recorder.flags == MQR_GAPS
                ? 0
                : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

// MPI_Waitall over requests that MPI gives one handle.
TEST_F(RecorderCalls, ManyRequestsOfOneHandleAreTakenAndGivenBackInLinearTime) {
  constexpr int count = 100'000; // count * count / 2 steps would take some seconds
  char handle = 0;
  for (int i = 0; i < 2 * count; ++i)
    mqr_request_add(&handle, begin(MQR_RECEIVE, 1, i));
  const auto began = std::chrono::steady_clock::now();
  std::vector<mqr_recorded_operation*> taken(count);
  for (auto& operation : taken)
    operation = mqr_request_take(&handle);
  for (auto* const operation : taken) // MPI_Testall that finds nothing
    mqr_request_add(&handle, operation);
  for (auto& operation : taken)
    operation = mqr_request_take(&handle);
  for (auto* const operation : taken)
    mqr_receive_end(operation, 1, 1, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(1));
  EXPECT_EQ(std::set(taken.begin(), taken.end()).size(), taken.size());
  EXPECT_THAT(world().queues[MQR_RECEIVE], SizeIs(count));
  for (int i = 0; i < count; ++i)
    EXPECT_NE(mqr_request_take(&handle), nullptr);
  EXPECT_EQ(mqr_request_take(&handle), nullptr);
}

TEST_F(RecorderCalls, AHandleThatIsUsedAgainLeadsToItsLastOperation) {
  char handle = 0;
  auto* const first = begin(MQR_RECEIVE, 1, 1);
  auto* const second = begin(MQR_RECEIVE, 1, 2);
  mqr_request_add(&handle, first);
  mqr_request_add(&handle, second);
  EXPECT_EQ(mqr_request_take(&handle), second);
  EXPECT_EQ(mqr_request_find(&handle), first);
  mqr_request_add(&handle, second);
  EXPECT_EQ(mqr_request_find(&handle), second);
  mqr_receive_end(second, 1, 2, 0);
  EXPECT_EQ(mqr_request_find(&handle), first);
}

class RecorderRequests : public RecorderCalls {
protected:
  void SetUp() override {
    RecorderCalls::SetUp();
    const mqr_handles constants = {};
    mqr_handles_open(&constants);
  }

  void begin_generalized() {
    mqr_unqueued_spec spec = {};
    spec.function = MQR_Grequest_start;
    spec.request = &handle;
    mqr_unqueued_begin(&spec);
  }
  static std::vector<std::uint32_t> generalized() {
    std::vector<std::uint32_t> flags;
    for (const auto& request : state_of(::getpid()).unqueued)
      flags.push_back(request.flags);
    return flags;
  }

  char handle = 0;
};

TEST_F(RecorderRequests, TheirListAndThatOfErrorHandlersHaveBounds) {
  for (int i = 0; i < MQR_MAX_UNQUEUED; ++i)
    begin_generalized();
  EXPECT_EQ(mqbridge_recorder.flags, 0U);
  begin_generalized();
  EXPECT_EQ(mqbridge_recorder.flags, std::uint32_t{MQR_GAPS});
  EXPECT_THAT(generalized(), SizeIs(MQR_MAX_UNQUEUED));

  const auto* const handles = reinterpret_cast<mqr_handles*>(mqbridge_recorder.handles.word);
  std::vector<char> errhandlers(MQR_MAX_ERRHANDLERS + 1);
  for (auto& errhandler : errhandlers) {
    EXPECT_EQ(handles->flags, 0U);
    mqr_errhandler_spec spec = {};
    spec.handle = &errhandler;
    mqr_errhandler_add(&spec);
  }
  EXPECT_EQ(handles->flags, std::uint32_t{MQR_UNSEEN_ERRHANDLERS});
  EXPECT_EQ(handles->errhandlers.count, std::uint32_t{MQR_MAX_ERRHANDLERS});
}

// A thread waits for it meanwhile, and has taken it.
TEST_F(RecorderRequests, AGeneralizedOneIsCompletedByAnotherThread) {
  begin_generalized();
  auto* const waited = mqr_unqueued_take(&handle);
  mqr_unqueued_complete(&handle);
  EXPECT_THAT(generalized(), ElementsAre(std::uint32_t{MQR_TOLD_COMPLETE}));
  mqr_unqueued_end(waited);
  EXPECT_THAT(generalized(), IsEmpty());
}

TEST_F(RecorderRequests, AGeneralizedOneIsCompletedWhileItIsFreed) {
  begin_generalized();
  auto* const freed = mqr_unqueued_take(&handle);
  mqr_unqueued_complete(&handle);
  mqr_unqueued_free(freed);
  EXPECT_THAT(generalized(), IsEmpty());
  begin_generalized();
  mqr_unqueued_free(mqr_unqueued_take(&handle));
  EXPECT_THAT(generalized(), ElementsAre(std::uint32_t{MQR_REQUEST_FREED}));
  mqr_unqueued_complete(&handle);
  EXPECT_THAT(generalized(), IsEmpty());
}

// MPI has given the handle away anew before the one that waited for it has returned.
TEST_F(RecorderRequests, OfTwoGeneralizedOnesTheNewOneIsCompleted) {
  begin_generalized();
  auto* const first = mqr_unqueued_take(&handle);
  begin_generalized();
  mqr_unqueued_complete(&handle);
  EXPECT_THAT(generalized(), ElementsAre(0U, std::uint32_t{MQR_TOLD_COMPLETE}));
  auto* const second = mqr_unqueued_take(&handle);
  mqr_unqueued_end(first);
  mqr_unqueued_put_back(second);
  EXPECT_EQ(mqr_unqueued_take(&handle), second);
}

TEST_F(RecorderRequests, ThoseThatAreWaitedForAreCancelledAndNamed) {
  mqr_request_add(&handle, begin(MQR_RECEIVE, 1, 1));
  auto* const waited = mqr_request_take(&handle);
  EXPECT_EQ(mqr_request_find(&handle), nullptr);
  mqr_request_mark(&handle, MQR_CANCELLED);
  mqr_request_set_fortran(&handle, 17);
  const auto receive = world().queues[MQR_RECEIVE].at(0).second;
  EXPECT_EQ(receive.flags & 0xffff, std::uint32_t{MQR_CANCELLED | MQR_HAS_FORTRAN});
  EXPECT_EQ(receive.fortran, 17);
  mqr_request_add(&handle, waited);
  EXPECT_EQ(mqr_request_find(&handle), waited);

  char other = 0;
  const mqr_collective_spec spec = {MQR_Ibarrier, 0, MQR_NO_ROOT, &other, this};
  mqr_recorded_collective* begun = nullptr;
  mqr_collective_begin(world_, &spec, &begun);
  mqr_collective_take(&other);
  mqr_request_set_fortran(&other, 18);
  EXPECT_EQ(world().under_way.at(0).fortran, 18);
}

// The handle may be another one's by now, which nobody has seen.
TEST_F(RecorderRequests, OneThatWasFreedHearsNothingMore) {
  mqr_request_add(&handle, begin(MQR_RECEIVE, 1, 1));
  mqr_operation_free_request(mqr_request_take(&handle));
  mqr_request_mark(&handle, MQR_CANCELLED);
  const auto flags = world().queues[MQR_RECEIVE].at(0).second.flags;
  EXPECT_EQ(flags & 0xffff, std::uint32_t{MQR_REQUEST_FREED});
}

TEST_F(RecorderCalls, CollectivesAreNumberedAndUnderWayUntilTheyEnd) {
  EXPECT_EQ(mqr_communicator_enter_collective(world_), 0U);
  EXPECT_EQ(mqr_communicator_enter_collective(world_), 1U);
  mqr_communicator_enter_collective(world_);
  mqr_communicator_refuse_collective(world_);
  EXPECT_EQ(world().raw.collectives, 2U);
  char handles[2];
  mqr_recorded_collective* begun = nullptr;
  for (std::uint32_t i = 0; i < 2; ++i) {
    const mqr_collective_spec spec = {MQR_Ibcast, i, 3, &handles[i], this};
    EXPECT_EQ(mqr_collective_begin(world_, &spec, &begun), MQR_OK);
  }
  const auto nodes = world().under_way;
  ASSERT_THAT(nodes, SizeIs(2));
  EXPECT_EQ(nodes[1].function, std::uint32_t{MQR_Ibcast});
  EXPECT_EQ(nodes[1].sequence, 1U);
  EXPECT_EQ(nodes[1].root, 3);
  EXPECT_EQ(mqr_collective_take(&handles[1]), begun);
  EXPECT_EQ(mqr_collective_find(&handles[1]), nullptr);
  mqr_collective_put_back(begun);
  mqr_collective_end(mqr_collective_find(&handles[0]));
  mqr_communicator_free(world_);
  EXPECT_EQ(world().raw.flags, std::uint32_t{MQR_FREED});
  mqr_collective_end(mqr_collective_find(&handles[1]));
  EXPECT_THAT(state_of(::getpid()).communicators, IsEmpty());
  world_ = nullptr;
}

TEST_F(RecorderCalls, AThreadSaysWhatItIsInAndWaitsFor) {
  const mqr_call_spec call = {MQR_Bcast, this, world_, 1, 17, 2};
  mqr_enter(&call);
  auto thread = own_thread();
  EXPECT_EQ(thread.function, std::uint32_t{MQR_Bcast});
  EXPECT_EQ(thread.communicator.word, state_of(::getpid()).communicators[0].first);
  EXPECT_EQ(thread.site.word, reinterpret_cast<std::uintptr_t>(this));
  EXPECT_EQ(std::tuple(thread.has_sequence, thread.sequence, thread.root), std::tuple(1U, 17U, 2));
  mqr_leave();
  EXPECT_EQ(own_thread().function, 0U);

  enter(MQR_Waitany);
  mqr_recorded_operation* const waited[] = {begin(MQR_SEND, 1, 1), nullptr,
                                            begin(MQR_RECEIVE, 1, 1)};
  begin(MQR_RECEIVE, 1, 2);
  mqr_wait_for(waited, 3, nullptr, 0, 1, 4);
  thread = own_thread();
  EXPECT_NE(thread.wait, 0U);
  EXPECT_EQ(std::tuple(thread.needed, thread.unseen), std::tuple(1U, 4U));
  EXPECT_EQ(waited_by(state_of(::getpid()), thread), 2U);
  mqr_leave();
  enter(MQR_Wait);
  mqr_wait_for(waited, 1, nullptr, 0, 1, 0);
  EXPECT_NE(own_thread().wait, thread.wait);
  EXPECT_EQ(waited_by(state_of(::getpid()), own_thread()), 1U);
}

TEST_F(RecorderCalls, AThreadThatFreesItsCommunicatorIsOnNone) {
  enter(MQR_Comm_free, world_);
  mqr_communicator_free(world_);
  EXPECT_EQ(own_thread().communicator.word, 0U);
}

TEST_F(RecorderCalls, ThreadsComeAndGoAndLeaveOneNodeEach) {
  enter(MQR_Recv);
  std::int64_t other = 0;
  for (int i = 0; i < 20; ++i) {
    std::thread thread([&] {
      other = ::gettid();
      enter(MQR_Send);
      EXPECT_EQ(own_thread().function, std::uint32_t{MQR_Send});
      mqr_leave();
    });
    thread.join();
    for (const auto& node : state_of(::getpid()).threads)
      EXPECT_NE(node.thread, other) << "it has ended";
  }
  EXPECT_LE(state_of(::getpid()).threads.size(), 2U);
  EXPECT_EQ(own_thread().function, std::uint32_t{MQR_Recv});
}

TEST_F(RecorderCalls, WhatIsNotRecordedIsSaid) {
  EXPECT_EQ(state_of(::getpid()).root.flags, 0U);
  mqr_set_recording(0);
  mqr_recorded_operation* begun = nullptr;
  mqr_operation_spec spec = {};
  EXPECT_EQ(mqr_operation_begin(world_, &spec, &begun), MQR_OFF_NOW);
  EXPECT_EQ(begun, nullptr);
  mqr_send_end(begun, 0); // harmless, as all of them
  mqr_receive_end(begun, 0, 0, 0);
  mqr_operation_start(begun);
  mqr_request_add(this, begun);
  mqr_set_recording(1);
  EXPECT_EQ(mqr_operation_begin(world_, &spec, &begun), MQR_OK);
  EXPECT_EQ(state_of(::getpid()).root.flags, std::uint32_t{MQR_GAPS});
}

/// What fork() made has no queues, although its memory is a copy; and its parent keeps its own.
TEST_F(RecorderCalls, TheChildOfForkHasNone) {
  enter(MQR_Send);
  begin(MQR_SEND, 1, 1);
  mqr_set_library("library");
  const pid_t child = ::fork();
  if (child == 0) {
    mqr_abandon();
    const auto state = state_of(::getpid());
    bool good = state.root.state == MQR_FINALIZED && state.communicators.empty() &&
                state.threads.empty() && state.library.empty() && state.faults.empty();
    enter(MQR_Send); // a program that goes on
    mqr_leave();
    good = good && state_of(::getpid()).threads.size() == 1 && mqr_init(nullptr) == MQR_OK;
    ::_exit(good ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(world().queues[MQR_SEND], SizeIs(1));
  EXPECT_EQ(state_of(::getpid()).library, "library");
}

} // namespace
} // namespace mqbridge
