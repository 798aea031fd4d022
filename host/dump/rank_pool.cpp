#include "host/dump/rank_pool.h"

#include "host/dump/job_view.h"
#include "host/dump/node_server.h"
#include "host/dump/process_access.h"
#include "rsp/client/shared_stub.h"
#include "rsp/codes.h"

#include <algorithm>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace mqbridge {

RankPool::RankPool(std::span<const TargetSpec> targets, const SharedTools& tools,
                   const DumpObserver& observer, std::stop_token stop)
    : targets_(targets), tools_(tools), observer_(observer), stop_(std::move(stop)),
      outcomes_(targets.size()) {}

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
  if (thrown_)
    std::rethrow_exception(thrown_);
  return std::move(outcomes_);
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
      lanes_.push_back(&work); // given back, when all others had theirs
    --working_;
    changed_.notify_all();
  }
}

void RankPool::take_lane(Work& work) {
  std::shared_ptr<rsp::SharedStub> stub;
  while (const auto index = next_of(work)) {
    if (work.group.server && !stop_.stop_requested() && !reach(work, *index, stub))
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
  if (observer_.progress)
    observer_.progress(index, "connect", 0);
  auto client = start_server(*work.group.server, work.group.node, tools_, stop_);
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
    fail_target(each, client.error());
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
    return fail_target(index,
                       {codes::interrupted, "interrupted before it was this target's turn", ""});
  auto& outcome = outcomes_[index];
  outcome = dump_rank(targets_[index], tools_, stub, observer_of(index), stop_);
  claim_rank(outcome.dump, outcome.claim);
  if (observer_.ended)
    observer_.ended(index, outcome.dump.status);
  tell(outcome.dump);
}

void RankPool::fail_target(std::size_t index, const Error& error) {
  auto& outcome = outcomes_[index];
  name_target(outcome, targets_[index]);
  outcome.dump.errors.push_back(
      {std::string(error.code), RankError::Level::error, error.message, error.hint});
  claim_rank(outcome.dump, outcome.claim);
  if (observer_.ended)
    observer_.ended(index, outcome.dump.status);
  tell(outcome.dump);
}

/// Nobody waits for the lock: a target is held meanwhile, and whoever has it may be writing a
/// finished rank into a pipe that nobody reads.
RankObserver RankPool::observer_of(std::size_t index) {
  RankObserver observer;
  observer.progress = [this, index](std::string_view phase, std::uint64_t operations) {
    if (observer_.progress)
      observer_.progress(index, phase, operations);
  };
  observer.warning = [this, index](const Error& warning) {
    const std::unique_lock lock(observer_mutex_, std::try_to_lock);
    if (lock && observer_.warning)
      observer_.warning(index, warning);
  };
  return observer;
}

/// What the observer throws is kept for the caller's thread: on another it would end the program,
/// and with it the other ranks' dumps.
void RankPool::tell(const RankDump& dump) {
  const std::lock_guard lock(observer_mutex_);
  if (!observer_.rank_done || thrown_)
    return;
  try {
    observer_.rank_done(dump);
  } catch (...) {
    thrown_ = std::current_exception();
  }
}

} // namespace mqbridge
