#include "host/dump/pool/rank_pool.h"

#include "host/dump/rank/rank_session.h"
#include "host/dump/target/node_server.h"
#include "rsp/client/shared_stub.h"
#include "rsp/codes.h"

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>

namespace mqbridge {

RankPool::RankPool(std::span<const TargetSpec> targets, const SharedTools& tools,
                   const DumpObserver& observer, std::stop_token stop)
    : targets_(targets), tools_(tools), board_(targets, observer), stop_(std::move(stop)) {}

std::vector<RankOutcome> RankPool::run() {
  for (auto& group : server_groups(targets_, tools_))
    work_.push_back({.group = std::move(group)});
  for (auto& work : work_)
    lanes_.push_back(&work);
  {
    std::vector<std::jthread> threads;
    try {
      for (std::size_t i = 1; i < std::min(targets_.size(), tools_.options.jobs); ++i)
        threads.emplace_back([this] { take_lanes(); });
    } catch (const std::system_error&) {
      // No more threads are to be had (RLIMIT_NPROC, cgroup): those there are do it all.
    }
    take_lanes();
  }
  return board_.take();
}

void RankPool::take_lanes() {
  std::unique_lock lock(mutex_);
  while (true) {
    // A lane that has reached its node adds others.
    changed_.wait(lock, [this] { return !lanes_.empty() || working_ == 0; });
    if (lanes_.empty())
      return;
    Work& work = *lanes_.front();
    lanes_.pop_front();
    ++working_;
    ++work.lanes;
    lock.unlock();
    take_lane(work);
    lock.lock();
    if (--work.lanes == 0 && work.taken < work.group.targets.size())
      lanes_.push_back(&work); // a lane gave a target back after all
    --working_;
    changed_.notify_all();
  }
}

void RankPool::take_lane(Work& work) {
  std::shared_ptr<rsp::SharedStub> stub;
  while (const auto index = next_of(work)) {
    if (work.group.node && !stop_.stop_requested() && !reach(work, *index, stub))
      return;
    take(*index, stub);
  }
}

std::optional<std::size_t> RankPool::next_of(Work& work) {
  const std::lock_guard lock(mutex_);
  if (work.taken == work.group.targets.size())
    return std::nullopt;
  return work.group.targets[work.taken++];
}

bool RankPool::reach(Work& work, std::size_t index, std::shared_ptr<rsp::SharedStub>& stub) {
  if (stub && stub->usable())
    return true;
  stub.reset();
  board_.say(index, "connect");
  auto client = start_server(server_of(targets_[index], tools_), *work.group.node, tools_, stop_);
  if (client) {
    (*client)->released(); // it is attached to nothing
    stub = (*client)->stub();
    add_lanes(work);
    return true;
  }
  std::vector<std::size_t> lost{index};
  {
    const std::lock_guard lock(mutex_);
    auto& all = work.group.targets;
    if (work.lanes > 1) { // the node is reached: it has no room for one more
      all.push_back(index);
      return false;
    }
    lost.insert(lost.end(), all.begin() + static_cast<std::ptrdiff_t>(work.taken), all.end());
    work.taken = all.size();
  }
  for (const auto each : lost)
    board_.fail(each, client.error());
  return false;
}

void RankPool::add_lanes(Work& work) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(work.reached, true))
      return;
    const auto left = work.group.targets.size() - work.taken;
    for (std::size_t i = 1; i < servers_of(work.group) && i <= left; ++i)
      lanes_.push_back(&work);
  }
  changed_.notify_all();
}

void RankPool::take(std::size_t index, std::shared_ptr<rsp::SharedStub>& stub) {
  if (stop_.stop_requested())
    return board_.fail(index,
                       {codes::interrupted, "interrupted before it was this target's turn", ""});
  board_.finish(index, dump_rank(targets_[index], tools_, stub, board_.observer_of(index), stop_));
}

} // namespace mqbridge
