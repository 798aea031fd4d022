#pragma once

#include "host/mqs/worker_process.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace mqbridge {

/// The workers of debug DLLs of level 3. Such a DLL keeps facts about a job: so one worker is asked
/// about all processes of the job, one after the other. Thread-safe; outlives the walks.
class JobWorkers {
public:
  /// `most_processes`: of all jobs.
  explicit JobWorkers(std::size_t most_processes) : most_processes_(most_processes) {}
  JobWorkers(const JobWorkers&) = delete;
  JobWorkers& operator=(const JobWorkers&) = delete;

  std::size_t most_processes() const { return most_processes_; }

  struct Key {
    std::filesystem::path dll;
    std::string job;
    auto operator<=>(const Key&) const = default;
  };

  /// A worker between two processes of its job.
  struct Idle {
    WorkerProcess process;
    std::optional<std::string> sandbox_gap; ///< as WorkerOutcome::sandbox_gap
  };

private:
  struct Job {
    bool taken = false;
    bool lost = false;
    std::optional<Idle> idle = {};
  };

public:
  /// The right to ask about a process of a job. One thread has it at a time, until the object ends.
  class Turn {
  public:
    Turn(Turn&& other) noexcept : all_(other.all_), job_(std::exchange(other.job_, nullptr)) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn();

    /// The job's worker. nullopt: it has none, and a new one is to be started.
    std::optional<Idle> take();
    /// Keeps the worker for the next process.
    void keep(Idle worker) { job_->idle.emplace(std::move(worker)); }
    /// The worker has ended early, and the DLL's facts about the job are lost.
    void lose() { job_->lost = true; }
    /// A worker of the job was lost, so the DLL does not know all earlier processes.
    bool has_lost() const { return job_->lost; }

  private:
    friend JobWorkers;
    Turn(JobWorkers& all, Job& job) : all_(all), job_(&job) {}

    JobWorkers& all_;
    Job* job_;
  };

  using Clock = std::chrono::steady_clock;

  /// Whether the DLL is of level 3, and one worker is to be asked about all processes of the job.
  bool knows(const Key& key);
  void note(const Key& key);
  /// For a known job: waits for the processes before this one. nullopt: `until` has come, or
  /// `stop`.
  std::optional<Turn> await(const Key& key, const std::optional<Clock::time_point>& until,
                            std::stop_token stop);

  /// No more processes come: lets the DLLs give back their infos, and returns what they print then,
  /// each line behind its DLL's name.
  std::vector<std::string> end();

private:
  const std::size_t most_processes_;
  std::mutex mutex_;
  std::condition_variable_any given_back_;
  std::map<Key, Job> jobs_; ///< a Job stays where it is
};

/// The job that a worker's walk belongs to. References outlive the walk.
struct JobOfWalk {
  JobWorkers& workers;
  std::string name; ///< of the job
};

} // namespace mqbridge
