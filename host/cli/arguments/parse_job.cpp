#include "host/cli/arguments/parse_job.h"

#include "host/cli/targets/targets.h"
#include "host/job/slurm_nodes.h"
#include "host/job/targets_file.h"
#include "host/launch/shell_words.h"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>
#include <utility>

namespace mqbridge {
namespace {

Result<std::vector<TargetSpec>> named_targets(const RawOptions& raw) {
  TargetList list;
  for (const std::string& text : raw.targets) {
    auto named = TargetSpec::parse_all(text);
    if (!named)
      return forward(std::move(named));
    for (auto& target : *named)
      if (auto added = list.add(std::move(target)); !added)
        return forward(std::move(added));
  }
  if (raw.targets_file.empty())
    return list.take();
  auto listed = read_targets_file(raw.targets_file);
  if (!listed)
    return forward(std::move(listed));
  for (auto& target : *listed)
    if (auto added = list.add(std::move(target)); !added)
      return forward(std::move(added));
  return list.take();
}

/// PID or ssh:HOST:PID; any other process of a node does, too.
Result<NodeProcess> parse_mpirun(const std::string& text) {
  auto process = parse_node_process(names_node_process(text) ? text : "local:" + text);
  if (process)
    return process;
  return fail("usage.value", fmt::format("--mpirun {}: this names no process", text),
              "--mpirun PID, or of another node: --mpirun ssh:HOST:PID");
}

Result<SlurmStep> parse_slurm(const std::string& text) {
  if (auto step = parse_slurm_step(text))
    return std::move(*step);
  return fail("usage.value", fmt::format("--slurm {}: this is no job", text),
              "--slurm JOB or --slurm JOB.STEP, as squeue --steps shows them");
}

Launcher launcher_of(const RawOptions& raw) {
  if (raw.launcher == "local")
    return Launcher::local;
  if (raw.launcher == "srun" || (raw.launcher.empty() && !raw.slurm.empty()))
    return Launcher::srun;
  return Launcher::ssh;
}

} // namespace

Result<JobRequest> parse_request(const RawOptions& raw) {
  JobRequest request;
  if (!raw.launcher.empty())
    request.launcher = launcher_of(raw);
  if (!raw.mpirun.empty()) {
    auto process = parse_mpirun(raw.mpirun);
    if (!process)
      return forward(std::move(process));
    request.mpirun = std::move(*process);
  }
  if (!raw.slurm.empty()) {
    auto step = parse_slurm(raw.slurm);
    if (!step)
      return forward(std::move(step));
    request.slurm = std::move(*step);
    if (!raw.nodes.empty() && request.slurm->job.find('_') != std::string::npos)
      return fail("usage.value",
                  fmt::format("--slurm {} with --node: Slurm is not asked then, and the processes "
                              "say the task's own number",
                              raw.slurm),
                  fmt::format("squeue --noheader --format=%A --jobs={} says it: --slurm NUMBER",
                              request.slurm->job));
  }
  for (const std::string& name : raw.nodes) {
    auto node = is_this_host(name)
                    ? Result<Node>(Node{})
                    : node_named(name, launcher_of(raw), request.slurm ? request.slurm->job : "");
    if (!node)
      return forward(std::move(node));
    if (std::ranges::find(request.nodes, *node) == request.nodes.end())
      request.nodes.push_back(std::move(*node));
  }
  return request;
}

Result<TargetChoice> parse_choice(const RawOptions& raw, NoTarget without,
                                  std::string_view command) {
  auto named = named_targets(raw);
  if (!named)
    return forward(std::move(named));
  TargetChoice choice{std::move(*named), std::nullopt, raw.save};
  if (!raw.mpirun.empty() && !raw.slurm.empty())
    return fail("usage", "--mpirun and --slurm name a job each", "write one of them");
  const bool finds = !raw.mpirun.empty() || !raw.slurm.empty() || !raw.nodes.empty();
  const bool names_none = choice.named.empty() && raw.targets_file.empty();
  if (finds || (without != NoTarget::wrong && names_none)) {
    auto request = parse_request(raw);
    if (!request)
      return forward(std::move(request));
    choice.job = std::move(*request);
    if (!finds && without == NoTarget::sole_job)
      choice.sole_job_of = command;
  }
  if (choice.named.empty() && !choice.job)
    return fail("usage", "no target is named",
                "name processes (local:PID, HOST:PORT, ...) or a job (--mpirun PID, --slurm JOB, "
                "--node HOST, --targets FILE); to see the MPI jobs of this host: mqbridge ranks");
  return choice;
}

Result<LaunchOptions> parse_launch(const RawOptions& raw) {
  LaunchOptions launch;
  auto args = split_words("--launcher-args", raw.launcher_args);
  if (!args)
    return forward(std::move(args));
  launch.launcher_args = std::move(*args);
  auto command = split_words("--node-command", raw.node_command);
  if (!command)
    return forward(std::move(command));
  launch.node_command = std::move(*command);
  if (!raw.gdbserver.empty())
    launch.gdbserver = raw.gdbserver;
  if (!raw.recorder.empty() && !raw.recorder.starts_with('/'))
    return fail("usage",
                fmt::format("--recorder {}: a path on the nodes begins with /", raw.recorder),
                "mqbridge run --record-queues --recorder /PATH ...");
  launch.recorder = raw.recorder;
  return launch;
}

} // namespace mqbridge
