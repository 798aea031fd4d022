#include "rsp/client/uninterruptible.h"

#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <system_error>
#include <thread>
#include <variant>

namespace mqbridge::rsp {
namespace {

using namespace std::chrono_literals;

/// Nothing that ends by itself soon, as reading from a disk, takes so long.
constexpr std::chrono::milliseconds patience{1'000};
constexpr std::chrono::milliseconds between_looks{20};

/// Of local:PID, as it was written; empty for any other endpoint.
std::string started_for(const Endpoint& endpoint) {
  const auto* command = std::get_if<CommandEndpoint>(&endpoint.where);
  return command != nullptr && endpoint.text.starts_with("local:") ? command->argv.back() : "";
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// "TID (NAME) STATE ...": a name may hold parentheses and blanks.
bool in_state_d(const std::string& stat) {
  const auto name_end = stat.rfind(')');
  return name_end != std::string::npos && stat.substr(name_end, 3) == ") D";
}

/// "voluntary_ctxt_switches:\t17": how often a thread has fallen asleep so far.
std::string sleeps(const std::string& status) {
  const auto at = status.find("voluntary_ctxt_switches:");
  return at == std::string::npos ? "" : status.substr(at, status.find('\n', at) - at);
}

/// By thread, their sleeps(): a thread that writes much is in state D at most looks, each time in
/// another sleep, and can be stopped.
using Sleepers = std::map<std::string, std::string>;

Sleepers threads_in_state_d(const std::string& pid) {
  Sleepers threads;
  std::error_code gone;
  const std::filesystem::path tasks = fmt::format("/proc/{}/task", pid);
  for (std::filesystem::directory_iterator task(tasks, gone), end; !gone && task != end;
       task.increment(gone)) {
    if (in_state_d(text_of(task->path() / "stat")))
      threads.emplace(task->path().filename(), sleeps(text_of(task->path() / "status")));
  }
  return threads;
}

Error uninterruptible(const std::string& pid, const std::string& thread, std::string_view so) {
  return {"attach.uninterruptible",
          fmt::format("process {} cannot be stopped now: its thread {} sleeps where no signal "
                      "reaches it (state D: the parent of a vfork() child, or input and output "
                      "that does not end){}",
                      pid, thread, so),
          fmt::format("what it waits for: cat /proc/{}/task/{}/wchan; try again when it has woken",
                      pid, thread)};
}

} // namespace

Result<void> await_interruptible(const Endpoint& endpoint, const std::stop_token& stop) {
  const std::string pid = started_for(endpoint);
  if (pid.empty())
    return {};
  const auto give_up = std::chrono::steady_clock::now() + patience;
  auto asleep = threads_in_state_d(pid);
  while (!asleep.empty() && !stop.stop_requested()) {
    if (std::chrono::steady_clock::now() >= give_up)
      return Failure(uninterruptible(pid, asleep.begin()->first, ""));
    std::this_thread::sleep_for(between_looks);
    const auto still = threads_in_state_d(pid);
    std::erase_if(asleep, [&still](const Sleepers::value_type& thread) {
      const auto now = still.find(thread.first);
      return now == still.end() || now->second != thread.second; // it was awake in between
    });
  }
  return {};
}

std::optional<Error> explain_silence(const Endpoint& endpoint) {
  const std::string pid = started_for(endpoint);
  const auto asleep = pid.empty() ? Sleepers() : threads_in_state_d(pid);
  if (asleep.empty())
    return std::nullopt;
  return uninterruptible(pid, asleep.begin()->first,
                         "; its gdbserver lets it go as soon as it wakes");
}

} // namespace mqbridge::rsp
