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

/// The workers of debug DLLs of level 3, which keep what they know of a job: one worker is asked
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
  /// The right to ask about a process of a job, which one has at a time. It ends with the object.
  class Turn {
  public:
    Turn(Turn&& other) noexcept : all_(other.all_), job_(std::exchange(other.job_, nullptr)) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn();

    /// The job's worker. nullopt: it has none, and a new one is to be started.
    std::optional<Idle> take();
    /// For the next process.
    void keep(Idle worker) { job_->idle.emplace(std::move(worker)); }
    /// The worker has ended early, and with it what the DLL knew of the job.
    void lose() { job_->lost = true; }
    /// A worker of the job was lost, so that the DLL does not know of all processes before.
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
  /// Of a job that is known: waits for those before. nullopt: `until` has come, or `stop`.
  std::optional<Turn> await(const Key& key, const std::optional<Clock::time_point>& until,
                            std::stop_token stop);

  /// No more processes come: has the DLLs give back their infos, and returns what they said at
  /// that, each line behind its DLL's name.
  std::vector<std::string> end();

private:
  const std::size_t most_processes_;
  std::mutex mutex_;
  std::condition_variable_any given_back_;
  std::map<Key, Job> jobs_; ///< a Job stays where it is
};

/// How a worker's walk is one of a job. References outlive the walk.
struct JobOfWalk {
  JobWorkers& workers;
  std::string name; ///< of the job
};

} // namespace mqbridge
