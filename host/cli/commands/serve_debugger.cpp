#include "host/cli/commands/serve_debugger.h"

#include "host/cli/targets/targets.h"
#include "host/disk/cache_directory.h"
#include "host/dump/target/node_server.h"
#include "host/dump/target/process_state.h"
#include "host/job/targets_file.h"
#include "rsp/transport/open.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <utility>

namespace mqbridge {
namespace {

/// The stub, and the process that it has to attach to, if it holds none yet.
struct Stub {
  rsp::Endpoint endpoint;
  std::optional<std::int64_t> process;
};

Stub stub_of(const TargetSpec& target, const SharedTools& tools) {
  if (const auto* process = std::get_if<NodeProcess>(&target.where))
    return {server_of(target, tools), process->pid};
  const auto& endpoint = std::get<rsp::Endpoint>(target.where);
  return {endpoint, endpoint.pid};
}

/// Each number from 0 on, once: of one job.
bool are_all_ranks(const std::vector<TargetSpec>& targets) {
  std::set<int> ranks;
  for (const TargetSpec& target : targets)
    if (target.keys.job == targets.front().keys.job && target.rank)
      ranks.insert(*target.rank);
  return ranks.size() == targets.size() && *ranks.rbegin() == static_cast<int>(ranks.size()) - 1;
}

} // namespace

int with_workshop(const ProxyCommand& command, const Installation& installation,
                  const std::function<Result<int>(Workshop&, Session&)>& work) {
  auto opened = Session::open("", command.trace);
  if (!opened) {
    print_error(opened.error());
    return exit_output;
  }
  Session& session = **opened;
  auto workshop = Workshop::open(session.complete(command.options, installation));
  if (!workshop) {
    print_error(workshop.error());
    return session.close(exit_partial);
  }
  const auto status = work(**workshop, session);
  if (status)
    return session.close(session.status_or_interrupted(*status));
  if (session.signals.signal() == 0)
    print_error(status.error());
  return session.close(session.status_or_interrupted(
      status.error().code == std::string_view("usage") ? exit_usage : exit_partial));
}

std::string name_of(const TargetSpec& target) {
  return target.rank ? fmt::format("rank {}", *target.rank) : target.text();
}

Result<DebuggedProcess> choose_debugged(const ProxyCommand& command, Workshop& workshop,
                                        const std::stop_token& stop) {
  auto chosen = choose_targets(command.targets, workshop, stop);
  if (!chosen)
    return forward(std::move(chosen));
  if (auto some = require_targets(*chosen); !some)
    return forward(std::move(some));
  const auto& ranks = command.options.filters.ranks;
  std::vector<TargetSpec> wanted = chosen->targets;
  if (!ranks.empty())
    std::erase_if(wanted, [&](const TargetSpec& target) {
      return !target.rank || std::ranges::find(ranks, *target.rank) == ranks.end();
    });
  if (wanted.size() != 1)
    return fail("usage",
                fmt::format("a debugger is for one process, and these are {}", wanted.size()),
                "--rank N says which one; mqbridge ranks lists them");
  TargetSpec& target = wanted.front();
  if (const auto* process = std::get_if<NodeProcess>(&target.where);
      process != nullptr && process->node.launcher == Launcher::local &&
      !std::filesystem::exists(fmt::format("/proc/{}", process->pid)))
    return fail("target.no_process", fmt::format("{}: no such process runs here", target.text()),
                "mqbridge ranks lists those of MPI jobs");
  DebuggedProcess process{std::move(target), std::move(chosen->targets), {}};
  if (command.targets.job && chosen->troubles.empty() && are_all_ranks(process.job))
    process.size = static_cast<int>(process.job.size());
  return process;
}

Result<DebuggerService> DebuggerService::open(const DebuggedProcess& process,
                                              const ProxyCommand& command, const SharedTools& tools,
                                              rsp::Door& door, rsp::Bell& bell,
                                              std::function<void(const std::string&)> tell) {
  auto directory = TemporaryDirectory::make();
  if (!directory)
    return forward(std::move(directory));
  DebuggerService service(process, command, tools, door, bell, std::move(tell),
                          std::move(*directory));
  if (auto written = service.write_targets(); !written)
    return forward(std::move(written));
  return service;
}

/// For what looks at the process beside its debugger: by the door, and at the other ranks as ever.
Result<void> DebuggerService::write_targets() {
  std::error_code ignored;
  scene_ = {std::filesystem::read_symlink("/proc/self/exe", ignored), name_of(process_.target),
            directory_.path() / "process", directory_.path() / "job", command_.look_words};
  TargetSpec own = process_.target;
  own.where = door_.endpoint();
  own.keys.node_command.reset();
  auto job = process_.job;
  for (TargetSpec& target : job)
    if (target.is_same_process(process_.target))
      target = own;
  for (const auto& [path, targets] : {std::pair(scene_.own_targets, std::vector{own}),
                                      std::pair(scene_.all_targets, std::move(job))})
    if (auto saved = save_targets(path, targets, {}); !saved)
      return saved;
  return {};
}

Result<void> DebuggerService::serve(const std::stop_token& stop) {
  auto client = door_.wait(stop);
  if (!client)
    return forward(std::move(client));
  const Stub stub = stub_of(process_.target, tools_);
  const auto deadline = std::chrono::steady_clock::now() + tools_.options.connect_timeout;
  auto opened = rsp::open_transport(stub.endpoint, {deadline, stop}, &tools_.guardian);
  if (!opened)
    return forward(std::move(opened));
  rsp::Connection connection(std::move(opened->transport),
                             {stub.endpoint.text, tools_.options.silence_timeout,
                              tools_.options.trace, opened->watch, &rsp::debugger_policy()});
  BridgeOptions options{cache_root(),
                        stub.process,
                        [this](std::string_view line) { return monitor_answer(line, scene_); },
                        {}};
  const auto* process = std::get_if<NodeProcess>(&process_.target.where);
  if (process != nullptr && process->node.launcher == Launcher::local)
    options.interrupt = [pid = process->pid] { interrupt_traced(pid); };
  Bridge bridge(connection, door_, bell_, std::move(options));
  for (;;) {
    const auto end = bridge.serve(std::move(*client), stop);
    if (!end)
      return Failure(end.error());
    if (*end == Bridge::End::over)
      return {};
    const auto stay = command_.stay;
    if (stop.stop_requested() || (stay && stay->count() == 0))
      return bridge.release();
    tell_(
        fmt::format("the debugger has left, and {} stands still {}. In gdb: target remote {}",
                    name_of(process_.target),
                    stay ? fmt::format("for {:.0f} s", std::chrono::duration<double>(*stay).count())
                         : "until another one comes and leaves it",
                    door_.address()));
    client = door_.wait(stop, stay ? std::optional(rsp::Bell::Clock::now() + *stay) : std::nullopt);
    if (!client)
      return bridge.release();
  }
}

} // namespace mqbridge
