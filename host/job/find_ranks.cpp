#include "host/job/find_ranks.h"

#include "host/codes.h"
#include "host/dump/target/node_server.h"
#include "host/job/daemon_nodes.h"
#include "host/job/job_book.h"
#include "host/job/launcher_table.h"
#include "host/job/node_search.h"
#include "host/job/slurm_nodes.h"
#include "host/job/table_job.h"
#include "host/mqs/walk_budget.h"
#include "rsp/packet/printable.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace mqbridge {
namespace {

class Search {
public:
  Search(const JobRequest& request, const SharedTools& tools, std::stop_token stop)
      : request_(request), tools_(tools), stop_(std::move(stop)) {}

  FoundJobs find() {
    if (request_.mpirun)
      find_by_launcher(*request_.mpirun);
    else if (request_.slurm)
      find_by_slurm(*request_.slurm);
    else
      find_on_nodes();
    return std::move(findings_);
  }

private:
  using Wanted = std::function<bool(const Node&, const ScannedRank&)>;

  void find_on_nodes() {
    auto nodes = request_.nodes;
    if (nodes.empty())
      nodes.emplace_back();
    take(nodes, scan(nodes), [](const Node&, const ScannedRank&) { return true; });
    for (auto& job : findings_.jobs)
      if (job.arguments.empty())
        for (const auto& node : request_.nodes)
          job.arguments.insert(
              job.arguments.end(),
              {"--node", node.launcher == Launcher::local ? node.name() : node.host});
  }

  void find_by_slurm(const SlurmStep& step) {
    const auto job = slurm_nodes(step);
    if (!job) {
      findings_.faults.push_back({"", job.error()});
      return;
    }
    const bool all_nodes = request_.nodes.empty();
    take(job->nodes, scan(job->nodes), [&](const Node& node, const ScannedRank& rank) {
      const auto& environment = rank.environment;
      const bool is_there = says_node(environment, node, all_nodes);
      return is_there && environment.slurm_job && job->numbers.contains(*environment.slurm_job) &&
             (!step.step || environment.slurm_step == step.step);
    });
    const auto name = step.step ? fmt::format("{}.{}", step.job, *step.step) : step.job;
    for (auto& found : findings_.jobs)
      if (found.arguments.empty())
        found.arguments = {"--slurm", name};
    if (all_nodes)
      say_missing_ranks(findings_.jobs, findings_.faults, "slurm.ranks_missing",
                        "srun:JOB:NODE:PID");
    if (all_nodes && findings_.jobs.empty() && findings_.faults.empty())
      findings_.faults.push_back(
          {"",
           {"slurm.no_ranks",
            fmt::format("no process on the {} nodes of job {} says a rank of it and has an MPI "
                        "library mapped",
                        job->nodes.size(), name),
            "to see its steps: squeue --steps --jobs=" + step.job}});
  }

  /// Asks Slurm for the step's nodes, unless the user names them.
  Result<SlurmNodes> slurm_nodes(const SlurmStep& step) const {
    if (request_.nodes.empty())
      return find_slurm_nodes(step, request_.launcher.value_or(Launcher::srun));
    return SlurmNodes{request_.nodes, {step.job.substr(0, step.job.find('+'))}};
  }

  /// Makes jobs of the ranks that are wanted.
  void take(const std::vector<Node>& nodes, std::vector<NodeScan> scans, const Wanted& wanted) {
    JobBook book;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (auto& rank : scans[i].ranks)
        if (wanted(nodes[i], rank))
          book.add(nodes[i], std::move(rank));
      const auto unmapped = std::ranges::count_if(
          scans[i].unmapped, [&](const ScannedRank& rank) { return wanted(nodes[i], rank); });
      auto& troubles = request_.mpirun || request_.slurm ? findings_.faults : findings_.warnings;
      if (unmapped != 0)
        troubles.push_back(
            {shown_name(nodes[i]),
             {"rank.no_mpi",
              "processes say a rank in their environment, and have no MPI library mapped: they "
              "are linked statically, have not come to MPI_Init, or are no ranks",
              "name them yourself: local:PID, ssh:HOST:PID"},
             static_cast<std::size_t>(unmapped)});
    }
    findings_.jobs = book.jobs(findings_.warnings);
  }

  /// Scans each node. A node that fails is noted as a fault, and its scan is empty.
  std::vector<NodeScan> scan(const std::vector<Node>& nodes) {
    std::vector<NodeScan> scans;
    auto results = scan_nodes(nodes, tools_, stop_);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (!results[i])
        findings_.faults.push_back({shown_name(nodes[i]), results[i].error()});
      auto& scan = scans.emplace_back(results[i] ? std::move(*results[i]) : NodeScan());
      std::ranges::move(scan.faults, std::back_inserter(findings_.faults));
      for (auto& warning : scan.warnings) // of other launchers than the one that is asked about
        if (!request_.mpirun || warning.error.code != codes::launcher_no_ranks)
          findings_.warnings.push_back(std::move(warning));
    }
    return scans;
  }

  void find_by_launcher(const NodeProcess& launcher) {
    const auto node = shown_name(launcher.node);
    const auto target = TargetSpec::parse(launcher.text);
    auto table = target ? read_launcher(*target, tools_, stop_)
                        : Result<LauncherTable>(Failure(target.error()));
    if (!table && table.error().code == codes::mpirun_no_proctable)
      return find_descendants(launcher, "has no MPIR_proctable");
    if (!table && table.error().code == codes::mpirun_not_started) {
      find_descendants(launcher, "has an empty MPIR_proctable");
      if (!findings_.jobs.empty())
        findings_.warnings.push_back(
            {node,
             {"mpirun.by_descent",
              fmt::format("{} has an empty MPIR_proctable: ranks from the environments of the "
                          "processes that descend from it",
                          launcher.text),
              "it fills the table when all ranks are in MPI_Init; a rank may hang before"}});
      return;
    }
    if (!table) {
      findings_.faults.push_back({node, table.error()});
      return;
    }
    for (auto& warning : table->warnings)
      findings_.warnings.push_back({node, std::move(warning)});
    for (auto& fault : table->table.faults)
      findings_.faults.push_back({node, std::move(fault)});
    take_table(launcher, *table);
  }

  void take_table(const NodeProcess& launcher, const LauncherTable& read) {
    const auto& table = read.table;
    if (const auto daemons = daemons_in(table)) {
      findings_.faults.push_back(
          {shown_name(launcher.node),
           {"mpirun.daemons",
            fmt::format("{} has started no ranks, but {}, which mpirun uses to start them",
                        launcher.text, *daemons),
            "name that mpirun: --mpirun PID"}});
      return;
    }
    const auto files = node_files(launcher.node, tools_, stop_);
    if (numbers_of(files, launcher.pid).size() > 1)
      return find_descendants(launcher, "has the process ids of its container in MPIR_proctable");
    const auto names = nodes_of_table(launcher, read, files);
    auto nodes = nodes_of(table, names);
    if (!has_scripts(table)) // then few nodes are scanned: each costs a login
      std::erase_if(nodes, [](const Node& node) { return node.launcher != Launcher::local; });
    if (std::ranges::find(nodes, launcher.node) == nodes.end())
      nodes.push_back(launcher.node);
    std::map<Node, NodeScan> scans;
    auto results = scan_nodes(nodes, tools_, stop_);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (results[i])
        scans.emplace(nodes[i], std::move(*results[i]));
      else // it is not known which ranks the scripts of this node have started
        findings_.faults.push_back({shown_name(nodes[i]), results[i].error()});
    }
    findings_.jobs.push_back(job_of_table(table, names, scans, findings_.faults));
    if (const auto scan = scans.find(launcher.node); scan != scans.end())
      add_unlisted(launcher, scan->second);
  }

  /// Adds the ranks that the launcher has started on its node, and that its table lacks: it has the
  /// first job alone, and not those that this one has spawned.
  void add_unlisted(const NodeProcess& launcher, const NodeScan& scan) {
    auto listed = std::move(findings_.jobs.back());
    findings_.jobs.pop_back();
    // The table may have another name for the launcher's node than the user: a process is the same
    // if its number and its rank are.
    using Number = std::optional<std::int64_t>;
    std::set<Number> ranks;
    std::set<std::pair<Number, Number>> processes;
    for (const auto& rank : listed.ranks) {
      ranks.insert(rank.target.rank);
      processes.emplace(rank.pid, rank.target.rank);
    }
    JobBook book;
    for (const auto& rank : scan.ranks) {
      const auto* const front = front_of(rank);
      const bool is_its = descends(rank.ancestors, launcher.pid) &&
                          (front == nullptr || front->pid == launcher.pid);
      const bool is_listed = processes.contains({rank.pid, rank.environment.rank}) ||
                             (rank.job == listed.name && ranks.contains(rank.environment.rank));
      if (is_its && !is_listed)
        book.add(launcher.node, rank);
    }
    auto unlisted = book.jobs(findings_.warnings);
    for (auto& job : unlisted) {
      job.arguments = listed.arguments;
      if (job.name != listed.name)
        continue;
      listed.size = std::max(listed.size, job.size);
      std::ranges::move(job.ranks, std::back_inserter(listed.ranks));
      job.ranks.clear();
    }
    findings_.jobs.push_back(std::move(listed));
    std::ranges::copy_if(unlisted, std::back_inserter(findings_.jobs),
                         [](const FoundJob& job) { return !job.ranks.empty(); });
    if (!unlisted.empty())
      say_missing_ranks(findings_.jobs, findings_.faults, "mpirun.ranks_missing", "ssh:HOST:PID");
  }

  /// Where the launcher is an srun, or was started within a job of Slurm, srun also reaches the
  /// job's nodes: ssh may be forbidden there. Slurm is not asked for a job of the launcher's node.
  TableNodes nodes_of_table(const NodeProcess& launcher, const LauncherTable& read,
                            const rsp::FileSource& files) const {
    TableNodes nodes{launcher, request_.launcher.value_or(Launcher::ssh)};
    if (launcher.node.launcher != Launcher::local)
      if (const auto name = files("/proc/sys/kernel/hostname"))
        nodes.own_name = name->substr(0, name->find('\n'));
    const bool may_be_srun = request_.launcher.value_or(Launcher::srun) == Launcher::srun;
    const bool all_here = std::ranges::all_of(read.table.entries, [&](const ProctableEntry& entry) {
      const auto node = nodes.find(entry.host);
      return node && *node == launcher.node;
    });
    if (all_here || !may_be_srun || launcher.node.launcher != Launcher::local)
      return nodes;
    const auto step =
        read.program == "srun" ? step_of_srun(launcher.pid) : job_around(launcher.pid);
    auto job = step ? find_slurm_nodes(*step, Launcher::srun) : Result<SlurmNodes>();
    if (job)
      nodes.known = std::move(job->nodes);
    return nodes;
  }

  /// Finds the ranks of a launcher whose table cannot be used, for the reason `why`: its
  /// descendants on its own node, and the other ranks of its jobs on the nodes of its daemons and
  /// on those that the user names.
  void find_descendants(const NodeProcess& launcher, std::string_view why) {
    std::vector<Node> nodes{launcher.node};
    for (const auto& node : request_.nodes)
      if (node != launcher.node)
        nodes.push_back(node);
    auto scans = scan(nodes);
    DaemonNodes daemons(launcher, request_.launcher);
    for (std::size_t scanned = 0; scanned < nodes.size();) {
      const auto more = daemons.started_from(std::span(nodes).subspan(scanned),
                                             std::span(scans).subspan(scanned), findings_.faults);
      scanned = nodes.size();
      for (const auto& node : more)
        if (std::ranges::find(nodes, node) == nodes.end())
          nodes.push_back(node);
      std::ranges::move(scan({nodes.begin() + static_cast<std::ptrdiff_t>(scanned), nodes.end()}),
                        std::back_inserter(scans));
    }
    std::set<std::string> names;
    std::optional<ScannedRank> itself; // if it is no launcher
    for (const auto& rank : scans.front().ranks) {
      if (descends(rank.ancestors, launcher.pid))
        names.insert(rank.job);
      if (rank.pid == launcher.pid)
        itself = rank;
    }
    take(nodes, std::move(scans), [&](const Node& node, const ScannedRank& rank) {
      if (daemons.empty())
        return names.contains(rank.job);
      // A node may show the processes of another one, as the host of containers does.
      if (node == launcher.node)
        return descends(rank.ancestors, launcher.pid);
      return (names.contains(rank.job) || daemons.start(rank.job)) &&
             says_node(rank.environment, node, false);
    });
    for (auto& job : findings_.jobs)
      if (job.arguments.empty() && !daemons.empty())
        job.arguments = {"--mpirun", launcher_value(launcher.node, launcher.pid)};
    if (findings_.jobs.empty() && itself)
      say_is_rank(launcher, *itself);
    else if (daemons.all_are_known())
      say_missing(launcher);
    else
      say_unknown_nodes(launcher, why);
  }

  void say_is_rank(const NodeProcess& named, const ScannedRank& rank) {
    const auto* const front = front_of(rank);
    findings_.faults.push_back(
        {shown_name(named.node),
         {"mpirun.is_rank",
          fmt::format("{} is rank {} of job {}, and has not started it", named.text,
                      *rank.environment.rank, rank.job),
          front != nullptr ? fmt::format("its {}: --mpirun {}", readable(front->program),
                                         launcher_value(named.node, front->pid))
                           : "its launcher is not known; all ranks of its node: mqbridge ranks"}});
  }

  /// Says what is missing although the nodes of all daemons are known.
  void say_missing(const NodeProcess& launcher) {
    if (findings_.jobs.empty())
      findings_.faults.push_back(
          {shown_name(launcher.node),
           {"mpirun.no_ranks",
            fmt::format(
                "no rank of a job that {} has started was found on the nodes of its daemons",
                launcher.text),
            "it may have no job now; to see all ranks of a node: mqbridge ranks --node HOST"}});
    say_missing_ranks(findings_.jobs, findings_.faults, "mpirun.ranks_missing", "ssh:HOST:PID");
  }

  void say_unknown_nodes(const NodeProcess& launcher, std::string_view why) {
    const auto node = shown_name(launcher.node);
    constexpr std::string_view name_nodes = "name its nodes: --node HOST (each)";
    if (findings_.jobs.empty())
      findings_.faults.push_back(
          {node,
           {"mpirun.no_ranks",
            fmt::format("{} {}, and no rank of an MPI job on its node descends from it",
                        launcher.text, why),
            fmt::format("{}; of a DVM, name the process that starts its ranks: --mpirun PID",
                        name_nodes)}});
    for (const auto& job : findings_.jobs)
      if (!job.size || static_cast<std::int64_t>(job.ranks.size()) < *job.size)
        findings_.faults.push_back(
            {node,
             {"mpirun.other_nodes",
              fmt::format("{} {}, so that it is not known on which other nodes job {} runs: {} of "
                          "{} ranks were found",
                          launcher.text, why, job.name, job.ranks.size(),
                          job.size ? fmt::to_string(*job.size) : "an unknown number of"),
              std::string(name_nodes)}});
  }

  const JobRequest& request_;
  const SharedTools& tools_;
  const std::stop_token stop_;
  FoundJobs findings_;
};

} // namespace

FoundJobs find_ranks(const JobRequest& request, Workshop& workshop, std::stop_token stop) {
  RunBudget budget(0, 1); // no queues are walked
  const auto tools = workshop.tools(budget);
  return Search(request, tools, std::move(stop)).find();
}

} // namespace mqbridge
