#include "host/job/node_processes.h"

#include "host/mpi/launcher_programs.h"
#include "rsp/limits.h"

#include <fmt/format.h>
#include <utility>

namespace mqbridge {
namespace {

using State = rsp::FileText::State;

constexpr std::size_t stat_bytes = 1024; // 52 numbers and a name
/// Ancestors of one process that are followed: a list that changes while it is read may go in a
/// circle.
constexpr std::size_t most_ancestors = 256;
/// The first process of a system, which nobody starts as a rank.
constexpr std::int64_t init = 1;

} // namespace

Result<NodeProcesses> NodeProcesses::read(NodeFiles& files) {
  const auto listed = files.processes();
  if (!listed)
    return Failure(listed.error());
  NodeProcesses result;
  std::vector<rsp::FileStart> wanted;
  for (const auto& process : *listed) {
    wanted.push_back({fmt::format("/proc/{}/stat", process.pid), stat_bytes});
    wanted.push_back(
        {fmt::format("/proc/{}/environ", process.pid), rsp::limits::environment_of_another});
  }
  std::map<std::size_t, rsp::FileText> stats; // of processes whose environment has not come yet
  std::map<std::size_t, Environ> environs;    // of processes whose stat has not come yet
  auto done = files.read(wanted, [&](std::size_t index, rsp::FileText text) {
    const auto process = index / 2;
    if (index % 2 == 0)
      stats.insert_or_assign(process, std::move(text));
    else
      environs.insert_or_assign(process, parse(text));
    const auto stat = stats.find(process);
    const auto environ = environs.find(process);
    if (stat == stats.end() || environ == environs.end())
      return;
    result.take((*listed)[process], stat->second, environ->second);
    stats.erase(stat);
    environs.erase(environ);
  });
  if (!done)
    return forward(std::move(done));
  return result;
}

/// The result does not point into the file's text, which is gone afterwards.
NodeProcesses::Environ NodeProcesses::parse(const rsp::FileText& file) {
  const std::string_view text = file.text;
  return {file.state, file.whole,
          parse_environment(file.whole ? text : text.substr(0, text.rfind('\0') + 1))};
}

void NodeProcesses::take(const ListedProcess& listed, const rsp::FileText& stat,
                         const Environ& environ) {
  const auto known = parse_process_stat(stat.text);
  if (!known) {
    if (stat.state == State::denied) // /proc is mounted with hidepid=1
      ++unreadable_.denied[listed.user];
    else if (stat.state != State::missing) // missing: the process has ended
      ++unreadable_.failed;
    return;
  }
  if (known->is_kernels || known->has_ended)
    return;
  auto& process = processes_[listed.pid];
  process.user = listed.user;
  process.stat = *known;
  if (environ.state == State::denied && listed.pid != init)
    ++unreadable_.denied[listed.user];
  else if (environ.state == State::failed)
    ++unreadable_.failed;
  if (environ.state != State::read)
    return;
  process.is_readable = true;
  process.environment = environ.environment;
  if (!environ.whole && !process.environment.rank)
    ++unreadable_.too_long;
}

std::vector<std::int64_t> NodeProcesses::ancestors(std::int64_t pid) const {
  std::vector<std::int64_t> found;
  for (auto process = processes_.find(pid);
       process != processes_.end() && found.size() < most_ancestors;) {
    const auto parent = process->second.stat.parent;
    if (parent <= 0)
      break;
    found.push_back(parent);
    process = processes_.find(parent);
  }
  return found;
}

std::vector<LauncherProcess> NodeProcesses::launchers_of(std::int64_t pid) const {
  std::vector<LauncherProcess> found;
  for (const auto ancestor : ancestors(pid)) {
    const auto process = processes_.find(ancestor);
    if (process == processes_.end())
      break;
    const auto& name = process->second.stat.name;
    if (const auto role = launcher_role(name); role != LauncherRole::none)
      found.push_back({ancestor, name, role});
  }
  return found;
}

} // namespace mqbridge
