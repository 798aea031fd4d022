// A process whose threads record without a pause, stopped at any instant: whatever is read of it
// then is consistent, or marked by an odd number. By the debug DLL, and by the layout alone.

#include "dll/recorder/functions.h"
#include "tests/dll/kept_state.h"
#include "tests/dll/recorder_traffic.h"
#include "tests/dll/walks.h"
#include "tests/mqs/process_memory.h"
#include "tests/support/child_process.h"
#include "tests/support/eventually.h"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <iostream>
#include <map>
#include <random>
#include <sys/wait.h>
#include <unistd.h>

namespace mqbridge {
namespace {

using namespace std::chrono_literals;
using testing::AnyOf;
using testing::IsEmpty;

/// What the stops came upon, to tell that they were where it matters.
struct Tally {
  int updating = 0; ///< stops within an update
  int changing = 0; ///< threads within a change
  int waiting = 0;  ///< threads that wait for something
  int operations = 0;
  int returned = 0;
  int collectives = 0;
};

class TrafficStops {
public:
  TrafficStops()
      : process_({{MQBRIDGE_RECORDER_TRAFFIC}}),
        ready_(test::eventually(20s, [this] { return process_.out() == "ready\n"; })),
        images_(images_of_process(process_.pid()).value()), memory_(process_.pid()),
        root_(images_.find_symbol(MQR_ROOT_SYMBOL)->address) {}

  /// Returns when every thread has stopped.
  void stop() {
    ::usleep(static_cast<useconds_t>(random_() % 1500));
    process_.signal(SIGSTOP);
    int status = 0;
    ASSERT_EQ(::waitpid(process_.pid(), &status, WUNTRACED), process_.pid());
    ASSERT_TRUE(WIFSTOPPED(status)) << status;
  }
  void go_on() { process_.signal(SIGCONT); }

  KeptState state() { return read_kept(memory_, root_); }
  WalkResult walk() { return walk_recorder({images_, memory_, own_platform()}); }
  bool ready() const { return ready_; }

private:
  test::ChildProcess process_;
  bool ready_;
  ImageSet images_;
  ProcessMemory memory_;
  TargetAddress root_;
  std::mt19937 random_{20};
};

void expect_message(std::int32_t peer, std::int32_t tag, std::uint64_t length, std::uint64_t site) {
  EXPECT_EQ(length, traffic_length(peer, tag)) << peer << "/" << tag;
  EXPECT_EQ(site, traffic_site(peer, tag)) << peer << "/" << tag;
}

void expect_operations(const KeptCommunicator& of, Tally& tally) {
  for (const auto& queue : of.queues)
    for (const auto& [at, operation] : queue) {
      ++tally.operations;
      expect_message(operation.peer, operation.tag, operation.length, operation.site.word);
      EXPECT_EQ(operation.buffer.word, traffic_buffer(operation.peer, operation.tag));
      EXPECT_EQ(operation.count, operation.length);
      if (operation.node.kind == MQR_RECEIVE && operation.status == MQR_MATCHED) {
        EXPECT_EQ(operation.actual_peer, operation.peer);
        EXPECT_EQ(operation.actual_length, operation.length);
      }
    }
}

/// Of each peer: the number of its last send, plus one.
std::map<std::int32_t, std::uint32_t> expect_returned(const KeptCommunicator& of, bool updating,
                                                      Tally& tally) {
  std::map<std::int32_t, std::uint32_t> numbers;
  for (std::size_t i = updating ? 1 : 0; i < of.returned.size(); ++i) {
    const auto& send = of.returned[i];
    if (send.peer == MQR_NO_PEER)
      continue;
    ++tally.returned;
    expect_message(send.peer, send.tag, send.length, send.site.word);
    EXPECT_EQ(send.function, std::uint32_t{MQR_Isend});
    EXPECT_LT(numbers[send.peer], send.number + 1) << "in the order of sending, of one thread";
    numbers[send.peer] = send.number + 1;
  }
  return numbers;
}

/// A counter may be one ahead of the lists while an update is under way.
void expect_channels(const KeptCommunicator& of, bool updating, Tally& tally) {
  auto numbers = expect_returned(of, updating, tally);
  for (const auto& [at, send] : of.queues[MQR_SEND])
    if ((send.flags & MQR_INACTIVE) == 0)
      numbers[send.peer] = std::max(numbers[send.peer], send.number + 1);
  std::map<std::int32_t, std::uint32_t> sent;
  for (const auto& channel : of.channels) {
    sent[channel.peer] += channel.sent;
    if (of.raw.id == 1) {
      EXPECT_GE(channel.sent, channel.received) << channel.peer << "/" << channel.tag;
      EXPECT_LE(channel.sent, channel.received + traffic_behind);
    }
  }
  for (const auto& [peer, number] : numbers)
    EXPECT_THAT(sent[peer], updating ? AnyOf(number, number + 1) : AnyOf(number, number)) << peer;
}

void expect_collectives(const KeptCommunicator& of, Tally& tally) {
  EXPECT_LE(of.under_way.size(), std::size_t{traffic_threads});
  for (const auto& node : of.under_way) {
    ++tally.collectives;
    EXPECT_LT(node.sequence, of.raw.collectives);
    EXPECT_EQ(node.root, static_cast<std::int32_t>(node.sequence % traffic_roots));
    EXPECT_EQ(node.site.word, traffic_call_site(MQR_Ibcast));
  }
}

/// How many operations a call waits for, and how many of them must complete.
std::pair<std::size_t, std::uint32_t> waits_of(std::uint32_t function) {
  switch (function) {
  case MQR_Waitall:
    return {2 * traffic_window, 2 * traffic_window};
  case MQR_Waitany:
  case MQR_Waitsome:
    return {2, 1};
  default:
    return {1, 1};
  }
}

void expect_thread(const KeptState& state, const mqr_thread& thread, Tally& tally) {
  if (thread.changes % 2 != 0) {
    ++tally.changing;
    return;
  }
  if (thread.function == 0)
    return;
  EXPECT_NE(thread.thread, 0) << "it has ended";
  EXPECT_EQ(thread.site.word, traffic_call_site(thread.function));
  EXPECT_EQ(thread.root, thread.has_sequence != 0
                             ? static_cast<std::int32_t>(thread.sequence % traffic_roots)
                             : MQR_NO_ROOT);
  if (thread.wait == 0)
    return;
  ++tally.waiting;
  const auto [operations, needed] = waits_of(thread.function);
  EXPECT_EQ(waited_by(state, thread), operations) << thread.function;
  EXPECT_EQ(thread.needed, needed) << thread.function;
  EXPECT_EQ(thread.unseen, thread.function == MQR_Waitany ? 3U : 0U);
}

void expect_sound(const KeptState& state, Tally& tally) {
  ASSERT_THAT(state.faults, IsEmpty());
  tally.updating += state.updating() ? 1 : 0;
  ASSERT_GE(state.communicators.size(), 1U);
  EXPECT_LE(state.communicators.size(), 2U);
  EXPECT_LE(state.threads.size(), std::size_t{traffic_threads} + 2);
  for (const auto& [at, communicator] : state.communicators) {
    expect_operations(communicator, tally);
    expect_channels(communicator, state.updating(), tally);
    expect_collectives(communicator, tally);
  }
  for (const auto& thread : state.threads)
    expect_thread(state, thread, tally);
}

/// What the DLL lists is what is there, each once.
void expect_same(const WalkResult& result, const KeptState& state) {
  ASSERT_FALSE(result.failure) << result.failure->message;
  ASSERT_EQ(result.communicators.size(), state.communicators.size());
  for (std::size_t i = 0; i < result.communicators.size(); ++i) {
    const auto& [at, kept] = state.communicators[i];
    EXPECT_THAT(result.communicators[i].name, AnyOf("world", "comes", "goes"));
    for (const auto op_class : op_classes) {
      const auto& queue = result.communicators[i].queue(op_class);
      const auto pending = kept.queues[static_cast<std::size_t>(op_class)].size();
      ASSERT_EQ(queue.state, QueueState::available) << queue.error.value_or("");
      if (op_class == OpClass::send)
        EXPECT_LE(queue.operations.size(), pending + MQR_RETURNED);
      else
        EXPECT_EQ(queue.operations.size(), pending);
      for (const auto& operation : queue.operations) {
        const auto peer = static_cast<std::int32_t>(operation.raw.desired_local_rank);
        const auto tag = static_cast<std::int32_t>(operation.raw.desired_tag);
        EXPECT_EQ(static_cast<std::uint64_t>(operation.raw.desired_length),
                  traffic_length(peer, tag));
        if (i == 0) {
          EXPECT_EQ(operation.raw.desired_global_rank, traffic_threads * traffic_peers - 1 - peer);
        }
      }
    }
  }
}

/// The debug DLL reads one stop of MQBRIDGE_WALK_EVERY.
TEST(StoppedTraffic, InTheMiddleOfManyThreads) {
  constexpr int stops = MQBRIDGE_STOPS;
  TrafficStops traffic;
  ASSERT_TRUE(traffic.ready());
  Tally tally;
  for (int i = 0; i < stops; ++i) {
    traffic.stop();
    const auto state = traffic.state();
    expect_sound(state, tally);
    if (i % MQBRIDGE_WALK_EVERY == 0)
      expect_same(traffic.walk(), state);
    ASSERT_FALSE(HasFailure()) << "at stop " << i << ", generation " << state.root.generation;
    traffic.go_on();
  }
  std::cout << fmt::format("{} stops: {} within an update; threads within a change {}, waiting {}; "
                           "operations {}, returned sends {}, collectives {}\n",
                           stops, tally.updating, tally.changing, tally.waiting, tally.operations,
                           tally.returned, tally.collectives);
  for (const int seen : {tally.updating, tally.changing, tally.waiting, tally.operations,
                         tally.returned, tally.collectives})
    EXPECT_GT(seen, 0);
}

} // namespace
} // namespace mqbridge
