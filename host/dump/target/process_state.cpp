#include "host/dump/target/process_state.h"

#include "host/disk/file_name.h"
#include "host/disk/text_file.h"
#include "rsp/commands/vfile.h"
#include "rsp/limits.h"
#include "rsp/packet/stat_line.h"

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <string>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace mqbridge {
namespace {

using namespace std::chrono_literals;

/// Enough for the process id, a name of 64 bytes and the state.
constexpr std::size_t stat_bytes = 256;

std::string stat_path(std::int64_t pid) {
  return fmt::format("/proc/{}/stat", pid);
}

/// Sleeps that end by themselves, such as reading from a disk, take less time.
constexpr std::chrono::milliseconds patience{1'000};
constexpr std::chrono::milliseconds between_looks{20};

bool in_state_d(std::string_view text) {
  const auto stat = rsp::StatLine::parse(text);
  return stat && stat->state() == 'D';
}

constexpr int place_of_parent = 4; ///< in a line of stat
constexpr int place_of_start = 22;

/// How long a process is looked at for the stop of a tracer that has died: the kernel closes the
/// tracer's connection before it lets the process go, and the process takes the signal after that.
constexpr std::chrono::milliseconds until_settled{300};

struct Life {
  char state = 'X';
  std::int64_t parent = 0;
  std::uint64_t started = 0;
  std::int64_t tracer = 0; ///< 0: nobody
};

/// nullopt: there is no such process.
std::optional<Life> life_of(std::int64_t pid) {
  constexpr std::string_view tracer = "TracerPid:\t";
  const auto line = read_text_file(stat_path(pid));
  const auto status = read_text_file(fmt::format("/proc/{}/status", pid));
  const auto stat = line ? rsp::StatLine::parse(*line) : std::nullopt;
  if (!stat || !status)
    return std::nullopt;
  const auto at = status->find(tracer);
  return Life{stat->state(), static_cast<std::int64_t>(stat->number(place_of_parent).value_or(0)),
              stat->number(place_of_start).value_or(0),
              at != std::string::npos ? std::atoll(status->c_str() + at + tracer.size()) : 0};
}

/// Whether we have started that process, or it descends from one that we have.
bool is_ours(const Life& process) {
  constexpr int most_generations = 16;
  std::optional<Life> at = process;
  for (int i = 0; at && i < most_generations; ++i) {
    if (at->parent == ::getpid())
      return true;
    at = life_of(at->parent);
  }
  return false;
}

/// Continues `stopped`, which is the process `pid` itself or its tracer.
Error go_on(std::int64_t stopped, std::int64_t pid, std::string what) {
  if (::kill(static_cast<pid_t>(stopped), SIGCONT) == 0)
    return {"target.continued", std::move(what) + "; mqbridge has let it go on", {}};
  return {"target.left_stopped",
          fmt::format("{}, and mqbridge cannot let process {} go on: {}", what, pid,
                      std::strerror(errno)),
          fmt::format("as root: kill -CONT {}", stopped)};
}

/// "voluntary_ctxt_switches:\t17": how often a thread has fallen asleep so far.
std::string sleeps(const std::string& status) {
  const auto at = status.find("voluntary_ctxt_switches:");
  return at == std::string::npos ? "" : status.substr(at, status.find('\n', at) - at);
}

/// By the thread's folder, its sleeps(): a thread that writes much is in state D at most looks,
/// each time in another sleep, and can be stopped.
using Sleepers = std::map<std::string, std::string>;

Sleepers threads_in_state_d(const ThreadFiles& threads) {
  Sleepers asleep;
  for (const auto& folder : threads.folders()) {
    const auto stat = threads.read(folder + "/stat");
    if (!stat || !in_state_d(*stat))
      continue;
    const auto status = threads.read(folder + "/status");
    asleep.emplace(folder, status ? sleeps(*status) : "");
  }
  return asleep;
}

Error uninterruptible(std::int64_t pid, const std::string& folder, std::string_view so) {
  return {"attach.uninterruptible",
          fmt::format("process {} cannot be stopped now: its thread {} sleeps where no signal "
                      "reaches it (state D: the parent of a vfork() child, or input and output "
                      "that does not end){}",
                      pid, file_name(folder), so),
          fmt::format("what it waits for: cat {}/wchan; try again when it has woken", folder)};
}

} // namespace

std::optional<std::string> remote_process_state(rsp::Client& client) {
  const auto pid = client.endpoint().pid;
  if (!pid || !client.features().vfile)
    return std::nullopt;
  const auto text = rsp::read_file_start(client, stat_path(*pid), stat_bytes);
  const auto stat = text ? rsp::StatLine::parse(*text) : std::nullopt;
  return stat ? std::optional(std::string(1, stat->state())) : std::nullopt;
}

std::optional<Error> stopped_process_warning(std::string_view state, std::int64_t pid) {
  if (state != "T")
    return std::nullopt;
  return Error{"target.stopped",
               "the process was stopped before mqbridge came (state T: SIGSTOP, or Ctrl-Z), and "
               "stays so: it does not take part in the job",
               fmt::format("to let it go on, on its node: kill -CONT {}", pid)};
}

std::optional<std::uint64_t> start_of_running(std::int64_t pid) {
  const auto life = life_of(pid);
  if (!life || life->started == 0 || life->tracer != 0 || life->state == 'T')
    return std::nullopt;
  return life->started;
}

std::optional<Error> mend_stop(std::int64_t pid, std::uint64_t started) {
  const auto end = std::chrono::steady_clock::now() + until_settled;
  for (;;) {
    const auto life = life_of(pid);
    if (!life || life->started != started)
      return std::nullopt;
    if (life->tracer == 0 && life->state == 'T')
      return go_on(pid, pid, "its gdbserver ended and left the process stopped");
    const auto tracer = life->tracer != 0 ? life_of(life->tracer) : std::nullopt;
    if (tracer && tracer->state == 'T' && is_ours(*tracer))
      return go_on(life->tracer, pid,
                   fmt::format("the gdbserver (process {}) was suspended, and held the process",
                               life->tracer));
    if (std::chrono::steady_clock::now() >= end)
      return std::nullopt;
    std::this_thread::sleep_for(10ms);
  }
}

ThreadFiles threads_here(std::int64_t pid) {
  return {[pid] {
            std::vector<std::string> folders;
            std::error_code gone;
            const std::filesystem::path tasks = fmt::format("/proc/{}/task", pid);
            for (std::filesystem::directory_iterator task(tasks, gone), end; !gone && task != end;
                 task.increment(gone))
              folders.push_back(task->path());
            return folders;
          },
          [](std::string_view path) { return read_text_file(path); }};
}

ThreadFiles threads_there(rsp::Client& client, std::int64_t pid) {
  return {[pid] { return std::vector{fmt::format("/proc/{}", pid)}; },
          [&client](std::string_view path) {
            return rsp::read_file_start(client, path, rsp::limits::proc_file);
          }};
}

Result<void> await_interruptible(const ThreadFiles& threads, std::int64_t pid,
                                 const std::stop_token& stop) {
  const auto give_up = std::chrono::steady_clock::now() + patience;
  auto asleep = threads_in_state_d(threads);
  while (!asleep.empty() && !stop.stop_requested()) {
    if (std::chrono::steady_clock::now() >= give_up)
      return Failure(uninterruptible(pid, asleep.begin()->first, ""));
    std::this_thread::sleep_for(between_looks);
    const auto still = threads_in_state_d(threads);
    std::erase_if(asleep, [&still](const Sleepers::value_type& thread) {
      const auto now = still.find(thread.first);
      return now == still.end() || now->second != thread.second; // it was awake in between
    });
  }
  return {};
}

std::optional<Error> explain_silence(const ThreadFiles& threads, std::int64_t pid) {
  const auto asleep = threads_in_state_d(threads);
  if (asleep.empty())
    return std::nullopt;
  return uninterruptible(pid, asleep.begin()->first,
                         "; its gdbserver lets it go as soon as it wakes");
}

void interrupt_traced(std::int64_t pid) {
  if (const auto life = life_of(pid); life && life->tracer != 0)
    ::kill(static_cast<pid_t>(pid), SIGINT);
}

} // namespace mqbridge
