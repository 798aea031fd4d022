#pragma once

#include "host/disk/file_descriptor.h"
#include "host/service/look_run.h"
#include "host/service/look_store.h"
#include "host/service/service_config.h"
#include "host/service/service_manager.h"
#include "host/service/watched_job.h"
#include "rsp/result.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace mqbridge {

/// Knows the jobs, has them looked at, and keeps what was seen. It owns no target: each look is a
/// process of its own (LookRun), some at once, the others wait. Thread-safe; a thread of its own
/// watches the looks.
///
/// The state of a job is an object, as the description of the interface has it. Of two states of a
/// job, the one with the greater `revision` is the later one.
class Supervisor {
public:
  /// `program`: this one, as it can be started. `changed` is called with the state of a job
  /// whenever that is another one, by any thread, while nothing is locked; so is `log`.
  Supervisor(std::string program, ServiceConfig config, LookStore store,
             std::function<void(const nlohmann::json&)> changed, ServiceLog log);
  /// All targets go on.
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  /// The states of all jobs, by name.
  nlohmann::json jobs() const;
  /// Error: service.no_job; so below.
  Result<nlohmann::json> job(const std::string& name) const;
  /// The summaries of its looks, the latest first.
  Result<nlohmann::json> looks(const std::string& name) const;
  /// Error: service.no_look.
  Result<FileDescriptor> document(const std::string& job, const std::string& id) const {
    return store_.document(job, id);
  }

  /// A job that a client names; it is known to the next service, too. Errors: service.job_exists,
  /// service.too_many, files.store.
  Result<nlohmann::json> add(ServiceJob about);
  /// Such a job, with its looks. Further errors: service.configured, service.looking.
  Result<void> remove(const std::string& name);
  /// Begins a look, or finds the one under way.
  Result<nlohmann::json> look(const std::string& name);
  Result<nlohmann::json> cancel(const std::string& name);
  /// From now on another configuration holds, for looks that begin. A job that it does not name any
  /// more goes after the look under way, and its looks stay on the disk. One thread at a time.
  void reload(ServiceConfig config);

private:
  struct Job {
    WatchedJob watched;
    bool is_busy = false; ///< the thread works with it: it stays where it is
    std::unique_ptr<LookRun> run = {};
    bool is_cancelled = false; ///< before its look had a program
    std::size_t told_ranks = 0;
    std::jthread notice = {};
    bool is_gone = false; ///< from the configuration: it goes when the thread has done with it
  };

  nlohmann::json state(const Job& job) const;
  nlohmann::json gone(const std::string& name);
  void tell(Job& job, bool is_over);
  Result<nlohmann::json> change(const std::string& name, const std::function<void(Job&)>& work);
  Result<Job*> find(const std::string& name);
  void know(ServiceJob about, std::vector<nlohmann::json> looks);
  // Of the thread.
  void watch(const std::stop_token& stop);
  void step();
  void take_config();
  std::vector<Job*> looking() const;
  void look_after(Job& job);
  Job* take_due();
  void begin(Job& job);
  void end(Job& job);
  void tell_command(Job& job, const std::string& look);
  void look_at_signs();
  void guarded(Job& job, const std::function<void()>& work);
  int until_next() const;
  void end_all();

  std::size_t under_way() const;
  void wake() const;

  const std::string program_;
  const LookStore store_;
  const std::function<void(const nlohmann::json&)> changed_;
  const ServiceLog log_;
  const FileDescriptor bell_; ///< an eventfd
  mutable std::mutex mutex_;  ///< guards the members below
  mutable std::uint64_t revision_ = 0;
  ServiceConfig config_; ///< that the thread alone changes: it reads it without the lock
  std::optional<ServiceConfig> next_config_; ///< until the thread has taken it
  std::condition_variable config_taken_;
  mutable std::map<std::string, Job> jobs_; ///< a look is the thread's own, and so is a notice
  std::vector<std::map<std::string, Job>::node_type> gone_;
  std::chrono::steady_clock::time_point signs_seen_; ///< of the thread
  std::jthread thread_;
};

} // namespace mqbridge
