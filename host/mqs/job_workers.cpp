#include "host/mqs/job_workers.h"

#include "host/mqs/walk_failures.h"

#include <fmt/format.h>

namespace mqbridge {
JobWorkers::Turn::~Turn() {
  if (job_ == nullptr)
    return;
  const std::lock_guard lock(all_.mutex_);
  job_->taken = false;
  all_.given_back_.notify_all();
}

std::optional<JobWorkers::Idle> JobWorkers::Turn::take() {
  std::optional<Idle> worker;
  if (job_->idle && job_->idle->process.alive())
    worker.emplace(std::move(*job_->idle));
  else if (job_->idle)
    lose(); // somebody has killed it
  job_->idle.reset();
  return worker;
}

bool JobWorkers::knows(const Key& key) {
  const std::lock_guard lock(mutex_);
  return jobs_.contains(key);
}

void JobWorkers::note(const Key& key) {
  const std::lock_guard lock(mutex_);
  jobs_.try_emplace(key);
}

std::optional<JobWorkers::Turn> JobWorkers::await(const Key& key,
                                                  const std::optional<Clock::time_point>& until,
                                                  std::stop_token stop) {
  std::unique_lock lock(mutex_);
  Job& job = jobs_[key];
  const auto is_free = [&] { return !job.taken; };
  const bool is_ours = until ? given_back_.wait_until(lock, stop, *until, is_free)
                             : given_back_.wait(lock, stop, is_free);
  if (!is_ours)
    return std::nullopt;
  job.taken = true;
  return Turn(*this, job);
}

std::vector<std::string> JobWorkers::end() {
  std::vector<std::string> said;
  const std::lock_guard lock(mutex_);
  for (auto& [key, job] : jobs_) {
    if (!job.idle)
      continue;
    auto& worker = job.idle->process;
    static_cast<void>(wire::send_message(
        worker.socket(), wire::Encoder().put(wire::Kind::job_over).message(), false));
    std::vector<std::string> lines;
    MessageLog log(lines);
    const auto status = worker.end(log, WorkerProcess::farewell_ms);
    if (status.value_or(0) != 0)
      log.add("afterwards: " + death(key.dll, status, worker.shared()).message);
    for (const auto& line : lines)
      said.push_back(fmt::format("{} says: {}", key.dll.filename().string(), line));
    job.idle.reset();
  }
  return said;
}

} // namespace mqbridge
