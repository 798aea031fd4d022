#include "host/dump/pool/consistent_dump.h"

#include "host/dump/pool/server_groups.h"
#include "host/dump/rank/rank_session.h"
#include "rsp/client/shared_stub.h"

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <fmt/format.h>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace mqbridge {
namespace {

using Clock = ProcessAccess::Clock;

/// Threads, and so servers, that one program has at once.
constexpr std::size_t most_lanes = 512;

/// Lets threads wait for each other, once at each stage. Thread-safe.
class Rendezvous {
public:
  enum Stage : std::size_t { all_reached, all_stopped, all_read, stages };

  explicit Rendezvous(std::size_t threads) : expected_(threads) {}

  /// Waits until all have come to `stage`, until `limit`, or until the dump is to end. False: a
  /// thread has not come in time, for this thread or for another one.
  bool meet(Stage stage, std::optional<Clock::time_point> limit, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    ++arrived_[stage];
    changed_.notify_all();
    const auto all_here = [&] { return arrived_[stage] >= expected_; };
    if (limit)
      changed_.wait_until(lock, stop, *limit, all_here);
    else
      changed_.wait(lock, stop, all_here);
    given_up_[stage] = given_up_[stage] || !all_here();
    return !given_up_[stage];
  }
  /// Whether somebody has gone on without the others.
  bool given_up(Stage stage) {
    const std::lock_guard lock(mutex_);
    return given_up_[stage];
  }
  /// A thread will not come to any further stage: it was never started, or has failed.
  void leave() {
    const std::lock_guard lock(mutex_);
    --expected_;
    changed_.notify_all();
  }

private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::size_t expected_;
  std::array<std::size_t, stages> arrived_{};
  std::array<bool, stages> given_up_{};
};

/// One server, or none, and the targets of its group that it holds.
struct Lane {
  const ServerGroup* group;
  std::vector<std::size_t> targets;
};

/// On this computer each target has a server of its own, which costs nothing but memory.
std::size_t lanes_of(const ServerGroup& group) {
  const bool here = group.node && group.node->launcher == Launcher::local;
  return here ? group.targets.size() : servers_of(group);
}

std::vector<Lane> make_lanes(const std::vector<ServerGroup>& groups) {
  std::vector<Lane> lanes;
  for (const auto& group : groups) {
    const auto count = lanes_of(group);
    const auto first = lanes.size();
    lanes.insert(lanes.end(), count, Lane{&group, {}});
    for (std::size_t i = 0; i < group.targets.size(); ++i)
      lanes[first + i % count].targets.push_back(group.targets[i]);
  }
  return lanes;
}

constexpr double for_stopping = 0.5; ///< of --max-stop
constexpr double for_reading = 0.9;

/// The stages of one thread.
class LaneDump {
public:
  LaneDump(const Lane& lane, std::span<const TargetSpec> targets, const SharedTools& tools,
           std::atomic<Clock::time_point>& first_stop, OutcomeBoard& board,
           const std::stop_token& stop)
      : lane_(lane), targets_(targets), tools_(tools), first_stop_(first_stop), board_(board),
        stop_(stop) {}

  void run(Rendezvous& others) {
    reach();
    // Some stubs hold their targets from the first contact on.
    others.meet(Rendezvous::all_reached, holds_already() ? limit(for_stopping) : std::nullopt,
                stop_);
    auto never = Clock::time_point::max();
    first_stop_.compare_exchange_strong(never, Clock::now());
    for (auto& held : held_)
      open(held);
    const bool all_stopped = others.meet(Rendezvous::all_stopped, limit(for_stopping), stop_);
    for (auto& held : held_)
      look(held, others, all_stopped);
    others.meet(Rendezvous::all_read, limit(for_reading), stop_);
    // A listener may keep the thread waiting: by then nothing is held.
    for (auto& held : held_)
      if (held.session)
        held.session->let_go();
    for (auto& held : held_)
      if (held.session)
        close(held);
    for (auto& [index, outcome] : closed_)
      board_.finish(index, std::move(outcome));
  }

private:
  struct Held {
    std::size_t index;
    std::unique_ptr<RankSession> session; ///< null: it was let go
  };

  void reach() {
    if (lane_.group->node) {
      board_.say(lane_.targets.front(), "connect");
      const auto server = server_of(targets_[lane_.targets.front()], tools_);
      auto client = start_server(server, *lane_.group->node, tools_, stop_);
      if (!client) {
        for (const auto index : lane_.targets)
          board_.fail(index, client.error());
        return;
      }
      (*client)->released(); // it is attached to nothing
      stub_ = (*client)->stub();
    }
    for (const auto index : lane_.targets) {
      Held held{index,
                std::make_unique<RankSession>(targets_[index], tools_, stub_,
                                              observers_.emplace_back(board_.observer_of(index)))};
      if (held.session->reach(stop_))
        held_.push_back(std::move(held));
      else
        close(held);
    }
  }

  bool holds_already() const { return !lane_.group->node && !held_.empty(); }

  /// A target that cannot be looked at is not kept waiting for the others. If its server refuses to
  /// attach, the server may have ended, and with it the hold on earlier targets: reading these will
  /// fail.
  void open(Held& held) {
    if (!held.session->open())
      close(held);
  }

  void look(Held& held, Rendezvous& others, bool all_stopped) {
    if (!held.session)
      return;
    held.session->look();
    if (!all_stopped || others.given_up(Rendezvous::all_read))
      held.session->warn({"stop.inconsistent", "not every rank stood still while this one was read",
                          "more time: --max-stop S"});
  }

  void close(Held& held) {
    closed_.emplace_back(held.index, held.session->close());
    held.session.reset();
  }

  /// The same for all held targets, except those whose stub held them before.
  std::optional<Clock::time_point> limit(double share) const {
    std::optional<Clock::time_point> first;
    for (const auto& held : held_)
      if (held.session)
        if (const auto end = held.session->deadline(share); end && (!first || *end < *first))
          first = end;
    return first;
  }

  const Lane& lane_;
  std::span<const TargetSpec> targets_;
  const SharedTools& tools_;
  std::atomic<Clock::time_point>& first_stop_;
  OutcomeBoard& board_;
  const std::stop_token& stop_;
  std::shared_ptr<rsp::SharedStub> stub_;
  std::deque<RankObserver> observers_; ///< outlive their sessions
  std::vector<Held> held_;
  std::vector<std::pair<std::size_t, RankOutcome>> closed_;
};

void fail_all(const std::vector<std::size_t>& indices, OutcomeBoard& board, const Error& error) {
  for (const auto index : indices)
    board.fail(index, error);
}

} // namespace

std::vector<RankOutcome> dump_consistently(std::span<const TargetSpec> targets,
                                           const SharedTools& shared, const DumpObserver& observer,
                                           const std::stop_token& stop) {
  std::atomic<Clock::time_point> first_stop = Clock::time_point::max();
  auto tools = shared;
  tools.first_stop = &first_stop;
  const auto groups = server_groups(targets, tools);
  const auto lanes = make_lanes(groups);
  OutcomeBoard board(targets, observer);
  if (lanes.size() > most_lanes) {
    for (const auto& lane : lanes)
      fail_all(lane.targets, board,
               {"stop.threads",
                fmt::format("--consistent would need {} servers at once, and has at most {}",
                            lanes.size(), most_lanes),
                "leave --consistent out, or name fewer targets: --rank LIST"});
    return board.take();
  }
  Rendezvous others(lanes.size());
  {
    std::vector<std::jthread> threads;
    for (const auto& lane : lanes) {
      try {
        threads.emplace_back(
            [&] { LaneDump(lane, targets, tools, first_stop, board, stop).run(others); });
      } catch (const std::system_error& error) {
        others.leave();
        fail_all(lane.targets, board,
                 {"stop.threads", fmt::format("no thread is to be had for it: {}", error.what()),
                  "raise the limits of processes (ulimit -u), or leave out --consistent"});
      }
    }
  }
  return board.take();
}

} // namespace mqbridge
