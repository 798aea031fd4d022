#include "host/job/node_scan.h"

#include "host/codes.h"
#include "host/job/node_processes.h"
#include "host/launch/remote_command.h"
#include "host/memory/memory_map_parser.h"
#include "host/mpi/mpi_support.h"
#include "rsp/limits.h"
#include "rsp/packet/printable.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <unistd.h>
#include <utility>

namespace mqbridge {
namespace {

/// Bytes of a list of mappings that are looked at: an MPI's libraries are among the first thousands
/// of mappings.
constexpr std::size_t maps_bytes = std::size_t{1} << 20;
constexpr std::size_t command_bytes = 4096;
/// Bytes of a command line that starts daemons: srun's has the names of all nodes.
constexpr std::size_t start_bytes = std::size_t{256} << 10;
/// Users that a warning names whose processes may not be looked into.
constexpr std::size_t named_users = 4;

std::string proc_path(std::int64_t pid, std::string_view name) {
  return fmt::format("/proc/{}/{}", pid, name);
}

/// Whether a job's name can stand in reports and in lines of a file: a process may put anything
/// into its environment.
bool is_job_name(std::string_view text) {
  constexpr std::size_t longest = 255;
  return text.size() <= longest && readable(text) == text;
}

class NodeScanner {
public:
  NodeScanner(NodeFiles& files, const std::string& node, NodeProcesses processes)
      : files_(files), node_(node), processes_(std::move(processes)) {}

  Result<NodeScan> scan() {
    note_launchers();
    if (auto done = read_more(); !done)
      return forward(std::move(done));
    keep_first_of_each_rank();
    for (auto& [key, rank] : unmapped_)
      result_.unmapped.push_back(std::move(rank));
    say_unreadable();
    say_launchers_without_ranks();
    return std::move(result_);
  }

private:
  /// (job, rank)
  using Key = std::pair<std::string, std::int64_t>;
  /// The facts that are kept of /proc/PID/maps.
  struct Mapped {
    bool has_ended = false;
    bool is_known = false; ///< all of it was read
    std::string mpi = {};
    std::string executable = {};
  };

  void note_launchers() {
    for (const auto& [pid, process] : processes_.all()) {
      const auto role = launcher_role(process.stat.name);
      if (role != LauncherRole::none)
        result_.launchers.push_back({pid, process.stat.name, role});
      else if (process.environment.rank)
        candidates_.push_back(pid);
      if (may_start_daemons(pid, process.environment))
        starters_.push_back(pid);
    }
  }

  /// Whether it was started by a launcher, and not as a rank: ssh, srun, a script around them.
  bool may_start_daemons(std::int64_t pid, const LaunchEnvironment& environment) const {
    const auto variable = environment.rank_variable;
    return (variable.empty() || variable == rank_variable_of_slurm) &&
           !processes_.launchers_of(pid).empty();
  }

  /// Reads the candidates' mappings, and the command lines of daemons that name their jobs there
  /// and of those that start daemons on other nodes.
  Result<void> read_more() {
    std::vector<std::pair<std::int64_t, const MpiSupport*>> daemons;
    std::vector<rsp::FileStart> wanted;
    for (const auto pid : candidates_)
      wanted.push_back({proc_path(pid, "maps"), maps_bytes, true});
    for (const auto& launcher : result_.launchers) {
      const auto* const mpi = mpi_of_naming_daemon(launcher.program);
      if (mpi == nullptr)
        continue;
      daemons.emplace_back(launcher.pid, mpi);
      wanted.push_back({proc_path(launcher.pid, "cmdline"), command_bytes});
    }
    const auto first_starter = wanted.size();
    for (const auto pid : starters_)
      wanted.push_back({proc_path(pid, "cmdline"), start_bytes});
    std::vector<Mapped> mapped(candidates_.size());
    std::vector<rsp::FileText> starts(starters_.size()); // they come in any order
    auto done = files_.read(wanted, [&](std::size_t index, rsp::FileText text) {
      if (index < candidates_.size()) {
        mapped[index] = look_at(candidates_[index], text);
        return;
      }
      if (index >= first_starter) {
        starts[index - first_starter] = std::move(text);
        return;
      }
      const auto& [pid, mpi] = daemons[index - candidates_.size()];
      if (auto job = mpi->name_job(command_words(text.text)))
        jobs_of_daemons_.emplace(pid, std::move(*job));
    });
    for (std::size_t i = 0; done && i < mapped.size(); ++i)
      take_mapped(candidates_[i], std::move(mapped[i]));
    for (std::size_t i = 0; done && i < starts.size(); ++i)
      take_start(starters_[i], starts[i]);
    return done;
  }

  void take_start(std::int64_t pid, const rsp::FileText& cmdline) {
    const auto words = command_words(cmdline.text);
    for (const auto* mpi : known_mpis()) {
      auto command = mpi->read_daemon_command(words);
      if (!command || !is_job_name(command->jobs))
        continue;
      const bool by_srun = processes_.all().at(pid).stat.name == "srun";
      result_.daemon_starts.push_back(
          {std::move(*command), cmdline.whole ? remote_hosts(words) : std::vector<std::string>(),
           processes_.ancestors(pid),
           by_srun ? processes_.all().at(pid).environment.slurm_job.value_or("") : ""});
    }
  }

  Mapped look_at(std::int64_t pid, const rsp::FileText& maps) const {
    Mapped mapped;
    mapped.has_ended =
        maps.state == rsp::FileText::State::missing || (maps.text.empty() && maps.whole);
    mapped.is_known = maps.state == rsp::FileText::State::read && maps.whole;
    mapped.mpi = mapped_mpi(maps.text);
    if (const auto file = find_mapped_file(maps.text, {processes_.all().at(pid).stat.code}))
      mapped.executable = file->path;
    return mapped;
  }

  void take_mapped(std::int64_t pid, Mapped mapped) {
    if (mapped.has_ended)
      return;
    const auto& process = processes_.all().at(pid);
    ScannedRank rank;
    rank.pid = pid;
    rank.user = process.user;
    rank.environment = process.environment;
    rank.ancestors = processes_.ancestors(pid);
    rank.launchers = processes_.launchers_of(pid);
    rank.job = name_job(pid, rank);
    rank.mpi = std::move(mapped.mpi);
    rank.executable = std::move(mapped.executable);
    if (!rank.mpi.empty())
      result_.ranks.push_back(std::move(rank));
    else if (!mapped.is_known)
      ++maps_unreadable_;
    else if (rank.environment.rank_variable != rank_variable_of_slurm)
      unmapped_.emplace(Key(rank.job, *rank.environment.rank), std::move(rank));
  }

  std::string name_job(std::int64_t pid, const ScannedRank& rank) const {
    const auto& environment = rank.environment;
    const bool has_name = environment.job && is_job_name(*environment.job);
    if (has_name && !environment.job_is_step)
      return *environment.job;
    for (const auto& launcher : rank.launchers)
      if (const auto job = jobs_of_daemons_.find(launcher.pid); job != jobs_of_daemons_.end())
        return job->second;
    if (has_name)
      return *environment.job;
    if (!rank.launchers.empty())
      return name_after(rank.launchers.front().program, rank.launchers.front().pid);
    return name_after_first_parent(pid);
  }

  std::string name_after(std::string_view program, std::int64_t pid) const {
    return fmt::format("{}-{}{}{}", readable(program), pid, node_.empty() ? "" : "@", node_);
  }

  /// Names the job after the nearest ancestor that says no rank: whatever program it is, it has
  /// started the ranks.
  std::string name_after_first_parent(std::int64_t pid) const {
    for (const auto ancestor : processes_.ancestors(pid)) {
      const auto process = processes_.all().find(ancestor);
      if (process == processes_.all().end())
        return name_after("process", ancestor);
      if (!process->second.environment.rank)
        return name_after(process->second.stat.name, ancestor);
    }
    return name_after("process", pid);
  }

  /// If a process and its descendants say the same rank, the process is the rank. If unrelated
  /// processes say the same rank, the one that started first is taken, and a warning tells it.
  void keep_first_of_each_rank() {
    std::map<Key, std::vector<ScannedRank>> claims;
    for (auto& rank : std::exchange(result_.ranks, {})) {
      Key key{rank.job, *rank.environment.rank};
      claims[std::move(key)].push_back(std::move(rank));
    }
    for (auto& [key, all] : claims) {
      const auto elders = elders_of(all);
      if (elders.size() > 1)
        result_.warnings.push_back(
            {node_,
             {"rank.twice",
              fmt::format("rank {} of job {} is said by {} processes that are not each other's "
                          "children ({}, {}, ...): the one that was started first is taken",
                          key.second, key.first, elders.size(), all[elders[0]].pid,
                          all[elders[1]].pid),
              fmt::format("where it is another one: local:{}", all[elders[1]].pid)},
             elders.size()});
      result_.ranks.push_back(std::move(all[elders.front()]));
      unmapped_.erase(key);
    }
  }

  /// Indices in `claims` of the processes that descend from no other one of them, by their start.
  std::vector<std::size_t> elders_of(const std::vector<ScannedRank>& claims) const {
    std::set<std::int64_t> pids;
    for (const auto& claim : claims)
      pids.insert(claim.pid);
    std::vector<std::size_t> elders;
    for (std::size_t i = 0; i < claims.size(); ++i) {
      const auto ancestors = processes_.ancestors(claims[i].pid);
      if (std::ranges::none_of(ancestors, [&](auto pid) { return pids.contains(pid); }))
        elders.push_back(i);
    }
    if (elders.empty()) // a circle: process ids were reused while we looked
      elders.push_back(0);
    std::ranges::stable_sort(
        elders, {}, [&](std::size_t i) { return processes_.all().at(claims[i].pid).stat.started; });
    return elders;
  }

  void say_unreadable() {
    if (maps_unreadable_ != 0)
      result_.faults.push_back({node_,
                                {"rank.maps_unreadable",
                                 "processes say a rank in their environment, and what they have "
                                 "mapped cannot be read",
                                 "look again as root, or as the user that runs the job"},
                                maps_unreadable_});
    say_denied();
    const auto& unreadable = processes_.unreadable();
    if (unreadable.failed != 0)
      result_.faults.push_back({node_,
                                {"node.unreadable", "files in /proc of processes cannot be read",
                                 "on the node: cat /proc/PID/environ | tr '\\0' '\\n' | grep RANK"},
                                unreadable.failed});
    if (unreadable.too_long != 0)
      result_.warnings.push_back(
          {node_,
           {"node.long_environment",
            fmt::format("processes have environments of more than {} KiB, and no rank in these",
                        rsp::limits::environment_of_another >> 10),
            "if one of them is a rank, name it yourself: local:PID, ssh:HOST:PID"},
           unreadable.too_long});
  }

  void say_denied() {
    std::size_t count = 0;
    std::string users;
    std::size_t named = 0;
    for (const auto& [user, processes] : processes_.unreadable().denied) {
      count += processes;
      if (++named <= named_users)
        users += fmt::format("{}{}", named == 1 ? "" : ", ", user.empty() ? "?" : user);
    }
    if (count != 0)
      result_.warnings.push_back(
          {node_,
           {codes::node_denied,
            fmt::format("the environments of processes may not be read (of {}{}): ranks among them "
                        "are not known",
                        users, named > named_users ? ", ..." : ""),
            "look as root, or as the user that runs the job"},
           count});
  }

  /// Warns of launchers that run here, and whose ranks are elsewhere.
  void say_launchers_without_ranks() {
    std::set<std::int64_t> known;
    for (const auto& rank : result_.ranks)
      known.insert(rank.ancestors.begin(), rank.ancestors.end());
    for (const auto& launcher : result_.launchers) {
      const auto above = processes_.launchers_of(launcher.pid);
      const bool is_outermost = std::ranges::none_of(
          above, [](const LauncherProcess& other) { return other.role == LauncherRole::front; });
      if (launcher.role == LauncherRole::front && is_outermost && !known.contains(launcher.pid) &&
          processes_.all().at(launcher.pid).is_readable && !is_ours(launcher.pid))
        result_.warnings.push_back(
            {node_,
             {codes::launcher_no_ranks,
              fmt::format("{} {} runs, and none of its ranks was found on its node",
                          launcher.program, launcher.pid),
              fmt::format("its own table may name them: mqbridge ranks --mpirun {}{}",
                          node_.empty() ? "" : fmt::format("ssh:{}:", node_), launcher.pid)},
             1});
    }
  }

  /// Whether mqbridge itself has started the process: an srun that reaches a node.
  bool is_ours(std::int64_t pid) const {
    const auto ancestors = processes_.ancestors(pid);
    return node_.empty() && std::ranges::find(ancestors, ::getpid()) != ancestors.end();
  }

  NodeFiles& files_;
  const std::string& node_;
  NodeProcesses processes_;
  NodeScan result_;
  std::vector<std::int64_t> candidates_;                ///< processes that say a rank
  std::vector<std::int64_t> starters_;                  ///< processes that may start daemons
  std::map<std::int64_t, std::string> jobs_of_daemons_; ///< by the daemon's process id
  std::map<Key, ScannedRank> unmapped_;
  std::size_t maps_unreadable_ = 0;
};

} // namespace

Result<NodeScan> scan_node(NodeFiles& files, const std::string& node) {
  auto processes = NodeProcesses::read(files);
  if (!processes)
    return forward(std::move(processes));
  return NodeScanner(files, node, std::move(*processes)).scan();
}

} // namespace mqbridge
