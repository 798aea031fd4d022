#include "host/service/supervisor.h"

#include "host/codes.h"
#include "host/service/look_summary.h"
#include "host/service/notice.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace mqbridge {
namespace {

using nlohmann::json;

constexpr std::size_t most_jobs = 1000;

Failure no_job(const std::string& name) {
  return fail(codes::service_no_job, fmt::format("there is no job {}", name), "mqbridge jobs");
}

/// Sorts by time, and is the name of a file.
std::string id_of(std::chrono::system_clock::time_point time) {
  std::string id = time_text(time);
  std::erase_if(id, [](char sign) { return sign == '-' || sign == ':'; });
  return id;
}

} // namespace

Supervisor::Supervisor(std::string program, ServiceConfig config, LookStore store,
                       std::function<void(const json&)> changed, ServiceLog log)
    : program_(std::move(program)), store_(std::move(store)), changed_(std::move(changed)),
      log_(std::move(log)), bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      config_(std::move(config)) {
  for (const ServiceJob& about : config_.jobs)
    know(about, store_.looks_of(about.name));
  for (ServiceJob& about : store_.named_jobs()) {
    const std::string name = about.name;
    if (!jobs_.contains(name))
      know(std::move(about), store_.looks_of(name));
  }
  thread_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

Supervisor::~Supervisor() {
  thread_.request_stop();
  wake();
  thread_.join();
}

void Supervisor::know(ServiceJob about, std::vector<json> looks) {
  std::string name = about.name;
  jobs_.emplace(std::move(name), Job{.watched = WatchedJob(std::move(about), std::move(looks),
                                                           std::chrono::steady_clock::now())});
}

json Supervisor::state(const Job& job) const {
  json state = job.watched.state(job.is_busy, job.run ? job.run->ranks() : 0);
  state["revision"] = ++revision_;
  return state;
}

json Supervisor::jobs() const {
  const std::lock_guard lock(mutex_);
  json all = json::array();
  for (const auto& [name, job] : jobs_)
    all.push_back(state(job));
  return all;
}

Result<json> Supervisor::job(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(name);
  return found == jobs_.end() ? Result<json>(no_job(name)) : state(found->second);
}

Result<json> Supervisor::looks(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(name);
  if (found == jobs_.end())
    return no_job(name);
  const auto& looks = found->second.watched.looks();
  return json(std::vector<json>(looks.rbegin(), looks.rend()));
}

Result<Supervisor::Job*> Supervisor::find(const std::string& name) {
  const auto found = jobs_.find(name);
  return found == jobs_.end() ? Result<Job*>(no_job(name)) : &found->second;
}

Result<json> Supervisor::add(ServiceJob about) {
  json added;
  const std::string name = about.name;
  const bool has_looks = !store_.looks_of(name).empty();
  {
    const std::lock_guard lock(mutex_);
    if (!jobs_.contains(name) && has_looks)
      return fail("service.job_exists",
                  fmt::format("looks are kept of a job {} that the configuration named", name),
                  "choose another name, or remove its folder: mqbridge serve --check says where");
    if (jobs_.contains(name))
      return fail("service.job_exists", fmt::format("there is a job {} already", name),
                  "choose another name");
    if (jobs_.size() >= most_jobs)
      return fail("service.too_many", fmt::format("the service knows {} jobs already", most_jobs),
                  "remove those that have ended");
    if (auto kept = store_.keep_job(about); !kept)
      return forward(std::move(kept));
    know(std::move(about), {});
    added = state(jobs_.at(name));
  }
  changed_(added);
  return added;
}

Result<void> Supervisor::remove(const std::string& name) {
  json removed;
  {
    const std::lock_guard lock(mutex_);
    const auto job = find(name);
    if (!job)
      return Failure(job.error());
    if ((*job)->watched.about().is_configured)
      return fail("service.configured", fmt::format("job {} is in the configuration", name),
                  "remove it there, and have it read again: kill -HUP, or systemctl reload");
    if ((*job)->is_busy)
      return fail("service.looking", fmt::format("job {} is being looked at", name),
                  "cancel the look, or wait for its end");
    store_.forget_job(name);
    removed = gone(name);
  }
  wake();
  changed_(removed);
  return {};
}

/// Its command may still run, and is waited for while nothing is locked.
json Supervisor::gone(const std::string& name) {
  gone_.push_back(jobs_.extract(name));
  return {{"name", name}, {"state", "removed"}, {"revision", ++revision_}};
}

/// Does what a client wants of a job, and tells everybody.
Result<json> Supervisor::change(const std::string& name, const std::function<void(Job&)>& work) {
  json changed;
  {
    const std::lock_guard lock(mutex_);
    const auto job = find(name);
    if (!job)
      return Failure(job.error());
    work(**job);
    changed = state(**job);
  }
  wake();
  changed_(changed);
  return changed;
}

Result<json> Supervisor::look(const std::string& name) {
  return change(name, [](Job& job) {
    if (!job.is_busy)
      job.watched.want(std::chrono::steady_clock::now());
  });
}

Result<json> Supervisor::cancel(const std::string& name) {
  return change(name, [this](Job& job) {
    if (job.run)
      job.run->cancel();
    else if (job.is_busy)
      job.is_cancelled = true;
    else
      job.watched.leave(config_.most_load, std::chrono::steady_clock::now());
  });
}

void Supervisor::reload(ServiceConfig config) {
  std::unique_lock lock(mutex_);
  next_config_ = std::move(config);
  wake();
  config_taken_.wait(lock, [this] { return !next_config_; });
}

/// The thread does it: while it works with a job, what is known about that stays as it is.
void Supervisor::take_config() {
  std::map<std::string, std::vector<json>> looks; // of jobs that are new
  {
    const std::lock_guard lock(mutex_);
    if (!next_config_)
      return;
    for (const ServiceJob& about : next_config_->jobs)
      if (!jobs_.contains(about.name))
        looks.emplace(about.name, std::vector<json>());
  }
  for (auto& [name, kept] : looks)
    kept = store_.looks_of(name);
  const auto named = store_.named_jobs();
  std::vector<json> told;
  {
    const std::lock_guard lock(mutex_);
    config_ = *next_config_;
    for (auto& [name, job] : jobs_)
      job.is_gone = job.watched.about().is_configured;
    const auto change = [&](Job& job, const ServiceJob& about) {
      job.is_gone = false;
      job.watched.change(about, config_.most_load, std::chrono::steady_clock::now());
    };
    for (const ServiceJob& about : config_.jobs) {
      if (const auto known = jobs_.find(about.name); known != jobs_.end())
        change(known->second, about);
      else
        know(about, std::move(looks[about.name]));
    }
    for (const ServiceJob& about : named) // by a client, before the configuration did
      if (const auto known = jobs_.find(about.name); known != jobs_.end() && known->second.is_gone)
        change(known->second, about);
    for (auto next = jobs_.begin(); next != jobs_.end();) {
      const auto& [name, job] = *next++;
      told.push_back(job.is_gone && !job.is_busy ? gone(std::string(name)) : state(job));
    }
  }
  for (const json& job : told)
    changed_(job);
  {
    const std::lock_guard lock(mutex_);
    next_config_.reset();
  }
  config_taken_.notify_all();
}

void Supervisor::wake() const {
  const std::uint64_t one = 1;
  static_cast<void>(::write(bell_.get(), &one, sizeof one));
}

std::size_t Supervisor::under_way() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(jobs_, [](const auto& named) { return named.second.is_busy; }));
}

/// What is known to have ended, has more, or is to be looked at. Processes and disks are dealt with
/// while nothing is locked: they may take their time. A job with a look stays where it is.
std::vector<Supervisor::Job*> Supervisor::looking() const {
  const std::lock_guard lock(mutex_);
  std::vector<Job*> jobs;
  for (auto& [name, job] : jobs_)
    if (job.run)
      jobs.push_back(&job);
  return jobs;
}

void Supervisor::look_after(Job& job) {
  job.run->look();
  const bool is_over = job.run->is_over();
  const auto ranks = job.run->ranks();
  if (is_over)
    end(job);
  if (std::exchange(job.told_ranks, ranks) != ranks || is_over)
    tell(job, is_over);
}

void Supervisor::end(Job& job) {
  json summary;
  std::string error;
  if (!job.run->is_cancelled()) {
    auto kept = job.run->finish();
    if (kept)
      summary = std::move(*kept);
    else
      error = "the look was not kept: " + kept.error().message;
  }
  const std::string name = job.watched.about().name;
  std::vector<json> looks;
  bool is_news = false;
  {
    const std::lock_guard lock(mutex_);
    const bool is_kept = !summary.is_null();
    job.watched.end(std::move(summary), std::move(error), config_.most_load,
                    std::chrono::steady_clock::now());
    job.run.reset();
    is_news = is_kept && !job.is_gone && job.watched.take_notice();
    looks = job.watched.looks();
  }
  const auto before = looks.size();
  store_.make_room(name, looks, config_.history);
  {
    const std::lock_guard lock(mutex_);
    job.watched.drop(before - looks.size());
  }
  if (is_news)
    tell_command(job, looks.back().at("id"));
}

/// `is_over`: the thread has done with it; from here on it may be gone.
void Supervisor::tell(Job& job, bool is_over) {
  json now;
  {
    const std::lock_guard lock(mutex_);
    job.is_busy = !is_over;
    now = is_over && job.is_gone ? gone(std::string(job.watched.about().name)) : state(job);
  }
  changed_(now);
}

void Supervisor::tell_command(Job& job, const std::string& look) {
  const auto& about = job.watched.about();
  auto document = store_.document(about.name, look);
  const auto failed = [log = log_, name = about.name, look](const Error& error) {
    log({error.message, error.code, name, look});
  };
  if (!document)
    return failed(document.error());
  job.notice =
      std::jthread([program = program_, about, failed, file = std::move(*document),
                    report = store_.report(about.name)](const std::stop_token& stop) mutable {
        if (const auto done = run_notice(program, about, std::move(file), report, stop); !done)
          failed(done.error());
      });
}

/// The job that waits for longest, if there is room for its look; from here on it has one, or an
/// error. nullptr: there is none.
Supervisor::Job* Supervisor::take_due() {
  const std::lock_guard lock(mutex_);
  if (under_way() >= config_.looks_at_once)
    return nullptr;
  Job* longest = nullptr;
  std::optional<WatchedJob::Time> since;
  for (auto& [name, job] : jobs_) {
    const auto due = job.is_busy ? std::nullopt : job.watched.due(std::chrono::steady_clock::now());
    if (due && (!since || *due < *since)) {
      since = due;
      longest = &job;
    }
  }
  if (longest != nullptr) {
    longest->watched.begin();
    longest->is_busy = true;
    longest->is_cancelled = false;
  }
  return longest;
}

void Supervisor::begin(Job& job) {
  job.told_ranks = 0;
  const auto& about = job.watched.about();
  const std::string id = id_of(std::chrono::system_clock::now());
  const std::string hold = std::to_string(config_.look.hold.count());
  std::vector<std::string> argv = {program_, "dump",       "--analyze", "--twice",
                                   "2",      "--max-stop", hold,        "--format",
                                   "ndjson", "--progress", "never"};
  argv.insert(argv.end(), about.words.begin(), about.words.end());
  auto writer = store_.begin(about.name, id);
  auto run = writer ? LookRun::start(argv, about.name, id, std::move(*writer), config_.look)
                    : Result<std::unique_ptr<LookRun>>(Failure(writer.error()));
  {
    const std::lock_guard lock(mutex_);
    if (run) {
      job.run = std::move(*run);
      if (job.is_cancelled)
        job.run->cancel();
    } else
      job.watched.end(nullptr, run.error().message, config_.most_load,
                      std::chrono::steady_clock::now());
  }
  tell(job, !run);
}

/// What jobs do that costs them nothing to ask for: the files that they write to, which may be on a
/// disk that takes its time, and the CPU time of their processes.
void Supervisor::look_at_signs() {
  const auto now = std::chrono::steady_clock::now();
  constexpr std::chrono::seconds between{5};
  if (now - signs_seen_ < between)
    return;
  signs_seen_ = now;
  std::optional<ProcessTable> processes;
  for (const ServiceJob& about : config_.jobs) {
    struct stat status {};
    if (!about.output.empty() && ::stat(about.output.c_str(), &status) == 0) {
      const std::lock_guard lock(mutex_);
      jobs_.at(about.name)
          .watched.note_output(std::chrono::system_clock::from_time_t(status.st_mtim.tv_sec), now);
    }
    if (about.cpu_of != 0) {
      if (!processes)
        processes = all_processes();
      const auto tree = process_tree(about.cpu_of, *processes);
      const std::lock_guard lock(mutex_);
      jobs_.at(about.name).watched.note_processes(tree, now);
    }
  }
}

void Supervisor::step() {
  take_config();
  decltype(gone_) gone;
  {
    const std::lock_guard lock(mutex_);
    gone.swap(gone_);
  }
  gone.clear();
  look_at_signs();
  for (Job* job : looking())
    guarded(*job, [&] { look_after(*job); });
  for (Job* job = take_due(); job != nullptr; job = take_due())
    guarded(*job, [&] { begin(*job); });
}

/// What a library throws (no memory, no thread) costs one look, and not the service.
void Supervisor::guarded(Job& job, const std::function<void()>& work) {
  try {
    work();
  } catch (const std::exception& error) {
    {
      const std::lock_guard lock(mutex_);
      job.run.reset();
      job.watched.end(nullptr, error.what(), config_.most_load, std::chrono::steady_clock::now());
    }
    tell(job, true);
  }
}

/// Milliseconds.
int Supervisor::until_next() const {
  constexpr std::chrono::milliseconds while_looking{200}; // an end and a limit are nothing to poll
  const auto now = std::chrono::steady_clock::now();
  const bool is_full = under_way() >= config_.looks_at_once;
  auto at = now + (under_way() > 0 ? while_looking : std::chrono::seconds(5));
  for (const auto& [name, job] : jobs_)
    if (!job.is_busy && !is_full)
      at = std::min(at, job.watched.next(now));
  constexpr std::chrono::milliseconds least{10};
  return static_cast<int>(
      std::max(least, std::chrono::ceil<std::chrono::milliseconds>(at - now)).count());
}

void Supervisor::watch(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    step();
    std::vector<pollfd> polled = {{bell_.get(), POLLIN, 0}};
    int wait = 0;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [name, job] : jobs_)
        if (job.run)
          for (const int descriptor : {job.run->output(), job.run->error()})
            polled.push_back({descriptor, POLLIN, 0});
      wait = until_next();
    }
    ::poll(polled.data(), polled.size(), wait);
    std::uint64_t rung = 0;
    static_cast<void>(::read(bell_.get(), &rung, sizeof rung));
  }
  end_all();
}

/// Each look lets its targets go, all at the same time.
void Supervisor::end_all() {
  auto jobs = looking();
  for (Job* job : jobs)
    job->run->cancel();
  constexpr std::chrono::seconds patience{15};
  constexpr int pause_ms = 20;
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!jobs.empty() && std::chrono::steady_clock::now() < until) {
    std::erase_if(jobs, [](Job* job) {
      job->run->look();
      return job->run->is_over();
    });
    ::poll(nullptr, 0, pause_ms);
  }
}

} // namespace mqbridge
