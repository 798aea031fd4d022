#include "host/watch/job_processes.h"

#include "host/disk/file_descriptor.h"
#include "host/disk/text_file.h"
#include "rsp/packet/stat_line.h"

#include <charconv>
#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <string_view>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

namespace mqbridge {
namespace {

constexpr std::string_view guardian_name = "mqbridge-guardi"; // as the kernel cuts it

std::optional<JobProcess> look_at(pid_t pid) {
  const auto text = read_text_file(fmt::format("/proc/{}/stat", pid), 1024);
  const auto line = text ? rsp::StatLine::parse(*text) : std::nullopt;
  if (!line || line->state() == 'Z' || line->state() == 'X')
    return std::nullopt;
  // As proc(5) counts.
  constexpr int parent = 4, group = 5, user_time = 14, system_time = 15, start_time = 22;
  JobProcess process;
  process.pid = pid;
  process.parent = static_cast<pid_t>(line->number(parent).value_or(0));
  process.group = static_cast<pid_t>(line->number(group).value_or(0));
  process.started = line->number(start_time).value_or(0);
  process.cpu = line->number(user_time).value_or(0) + line->number(system_time).value_or(0);
  process.name = line->name();
  return process;
}

/// Adds the processes that descend from `root` to `found`.
void add_descendants(std::vector<JobProcess>& found, pid_t root, const ProcessTable& all,
                     const KnownProcesses& strangers) {
  const auto add_children = [&](pid_t parent) {
    const auto [first, last] = all.equal_range(parent);
    for (auto child = first; child != last; ++child)
      if (child->second.name != guardian_name && !strangers.contains(child->second.identity()))
        found.push_back(child->second);
  };
  std::size_t next = found.size();
  add_children(root);
  for (; next < found.size() && found.size() < all.size(); ++next)
    add_children(found[next].pid);
}

} // namespace

ProcessTable all_processes() {
  ProcessTable all;
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator("/proc", error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const auto name = entry->path().filename().string();
    pid_t pid = 0;
    const auto [end, wrong] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (wrong != std::errc() || end != name.data() + name.size())
      continue;
    if (auto process = look_at(pid))
      all.emplace(process->parent, std::move(*process));
  }
  return all;
}

std::vector<JobProcess> process_tree(pid_t root, const ProcessTable& all) {
  std::vector<JobProcess> found;
  if (auto process = look_at(root))
    found.push_back(std::move(*process));
  add_descendants(found, root, all, {});
  return found;
}

std::vector<JobProcess> own_descendants(const KnownProcesses& strangers) {
  std::vector<JobProcess> found;
  add_descendants(found, ::getpid(), all_processes(), strangers);
  return found;
}

void send_signal(const JobProcess& process, int signal) {
  const FileDescriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  const auto now = look_at(process.pid);
  if (!now || now->identity() != process.identity())
    return;
  if (handle)
    ::syscall(SYS_pidfd_send_signal, handle.get(), signal, nullptr, 0);
  else // a kernel before 5.3, or a container that forbids the call
    ::kill(process.pid, signal);
}

} // namespace mqbridge
