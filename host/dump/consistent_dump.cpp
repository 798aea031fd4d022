#include "host/dump/consistent_dump.h"

#include "host/dump/rank_session.h"
#include "host/dump/server_groups.h"
#include "rsp/client/shared_stub.h"

#include <array>
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

/// Where threads wait for each other, at each stage once. Thread-safe.
class Rendezvous {
public:
  enum Stage : std::size_t { all_reached, all_stopped, all_read, stages };

  explicit Rendezvous(std::size_t threads) : expected_(threads) {}

  /// Waits until all have come to `stage`, or until `limit`. False: somebody has not.
  bool meet(Stage stage, std::optional<Clock::time_point> limit) {
    std::unique_lock lock(mutex_);
    ++arrived_[stage];
    changed_.notify_all();
    const auto all_here = [&] { return arrived_[stage] >= expected_; };
    if (limit)
      return changed_.wait_until(lock, *limit, all_here);
    changed_.wait(lock, all_here);
    return true;
  }
  /// A thread that was never started comes nowhere.
  void leave() {
    const std::lock_guard lock(mutex_);
    --expected_;
    changed_.notify_all();
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t expected_;
  std::array<std::size_t, stages> arrived_{};
};

/// One server, or none, and those of its group's targets that it holds.
struct Lane {
  const ServerGroup* group;
  std::vector<std::size_t> targets;
};

std::vector<Lane> make_lanes(const std::vector<ServerGroup>& groups) {
  std::size_t servers = 0;
  for (const auto& group : groups)
    servers += servers_of(group);
  std::vector<Lane> lanes;
  for (const auto& group : groups) {
    const auto count = servers > most_lanes ? 1 : servers_of(group);
    const auto first = lanes.size();
    lanes.insert(lanes.end(), count, Lane{&group, {}});
    for (std::size_t i = 0; i < group.targets.size(); ++i)
      lanes[first + i % count].targets.push_back(group.targets[i]);
  }
  return lanes;
}

/// What one thread does, stage by stage.
class LaneDump {
public:
  LaneDump(const Lane& lane, std::span<const TargetSpec> targets, const SharedTools& tools,
           OutcomeBoard& board, const std::stop_token& stop)
      : lane_(lane), targets_(targets), tools_(tools), board_(board), stop_(stop) {}

  void run(Rendezvous& others) {
    reach();
    others.meet(Rendezvous::all_reached, std::nullopt);
    for (auto& held : held_)
      held.stopped = held.session->open();
    constexpr double for_stopping = 0.5;
    constexpr double for_reading = 0.9;
    const bool all_stopped = others.meet(Rendezvous::all_stopped, limit(for_stopping));
    for (auto& held : held_)
      look(held, all_stopped);
    others.meet(Rendezvous::all_read, limit(for_reading));
    for (auto& held : held_)
      board_.finish(held.index, held.session->close());
  }

private:
  struct Held {
    std::size_t index;
    std::unique_ptr<RankSession> session;
    bool stopped = false;
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
      auto session = std::make_unique<RankSession>(
          targets_[index], tools_, stub_, observers_.emplace_back(board_.observer_of(index)));
      if (session->reach(stop_))
        held_.push_back({index, std::move(session)});
      else
        board_.finish(index, session->close());
    }
  }

  static void look(Held& held, bool all_stopped) {
    if (!held.stopped)
      return;
    if (!all_stopped)
      held.session->warn({"stop.inconsistent", "not every rank stood still when this one was read",
                          "more time: --max-stop S"});
    held.session->look();
  }

  /// When the first of those that are held has waited for long enough.
  std::optional<Clock::time_point> limit(double share) const {
    std::optional<Clock::time_point> first;
    for (const auto& held : held_)
      if (const auto end = held.session->deadline(share); end && (!first || *end < *first))
        first = end;
    return first;
  }

  const Lane& lane_;
  std::span<const TargetSpec> targets_;
  const SharedTools& tools_;
  OutcomeBoard& board_;
  const std::stop_token& stop_;
  std::shared_ptr<rsp::SharedStub> stub_;
  std::deque<RankObserver> observers_; ///< outlive their sessions
  std::vector<Held> held_;
};

} // namespace

std::vector<RankOutcome> dump_consistently(std::span<const TargetSpec> targets,
                                           const SharedTools& tools, const DumpObserver& observer,
                                           const std::stop_token& stop) {
  const auto groups = server_groups(targets, tools);
  const auto lanes = make_lanes(groups);
  OutcomeBoard board(targets, observer);
  Rendezvous others(lanes.size());
  {
    std::vector<std::jthread> threads;
    for (const auto& lane : lanes) {
      try {
        threads.emplace_back([&] { LaneDump(lane, targets, tools, board, stop).run(others); });
      } catch (const std::system_error& error) {
        others.leave();
        for (const auto index : lane.targets)
          board.fail(index,
                     {"stop.threads",
                      fmt::format("no thread is to be had for it: {}", error.what()),
                      "raise the limits of processes (ulimit -u), or leave out --consistent"});
      }
    }
  }
  return board.take();
}

} // namespace mqbridge
