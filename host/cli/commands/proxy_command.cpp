#include "host/bridge/bridge.h"
#include "host/cli/commands/execute.h"
#include "host/cli/targets/targets.h"
#include "host/cli/terminal/session.h"
#include "host/dump/target/node_server.h"
#include "host/dump/workshop.h"
#include "rsp/server/debugger.h"
#include "rsp/server/listener.h"
#include "rsp/transport/open.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <utility>

namespace mqbridge {
namespace {

/// The stub, and the process that it has to attach to, if it holds none yet.
struct Stub {
  rsp::Endpoint endpoint;
  std::optional<std::int64_t> process;
};

/// Errors: usage (a core, or not exactly one process), target.no_process.
Result<Stub> stub_of(std::vector<TargetSpec> targets, const std::vector<std::int64_t>& ranks,
                     const SharedTools& tools) {
  if (!ranks.empty())
    std::erase_if(targets, [&](const TargetSpec& target) {
      return !target.rank || std::ranges::find(ranks, *target.rank) == ranks.end();
    });
  if (targets.size() != 1)
    return fail("usage",
                fmt::format("a debugger is for one process, and these are {}", targets.size()),
                "--rank N says which one; mqbridge ranks lists them");
  const TargetSpec& target = targets.front();
  if (target.is_core())
    return fail("usage", "a core needs no stub", "gdb PROGRAM CORE");
  if (const auto* process = std::get_if<NodeProcess>(&target.where)) {
    if (process->node.launcher == Launcher::local &&
        !std::filesystem::exists(fmt::format("/proc/{}", process->pid)))
      return fail("target.no_process", fmt::format("{}: no such process runs here", target.text()),
                  "mqbridge ranks lists those of MPI jobs");
    return Stub{server_of(target, tools), process->pid};
  }
  const auto& endpoint = std::get<rsp::Endpoint>(target.where);
  return Stub{endpoint, endpoint.pid};
}

Result<void> serve(const Stub& stub, rsp::UniqueFd connected, const SharedTools& tools,
                   const std::stop_token& stop) {
  const auto deadline = std::chrono::steady_clock::now() + tools.options.connect_timeout;
  auto opened = rsp::open_transport(stub.endpoint, {deadline, stop}, &tools.guardian);
  if (!opened)
    return forward(std::move(opened));
  auto& transport = *opened->transport;
  rsp::Connection connection(std::move(opened->transport),
                             {stub.endpoint.text, tools.options.silence_timeout,
                              tools.options.trace, opened->watch, &rsp::debugger_policy()});
  rsp::Debugger debugger(std::move(connected), [&] { transport.wake(); });
  const std::stop_callback leave(stop, [&] { debugger.hang_up(); });
  return Bridge(connection, stub.process).serve(debugger);
}

Result<void> run(const ProxyCommand& command, Workshop& workshop, Session& session) {
  const auto stop = session.signals.token();
  auto chosen = choose_targets(command.targets, workshop, stop);
  if (!chosen)
    return forward(std::move(chosen));
  if (auto some = require_targets(*chosen); !some)
    return some;
  RunBudget budget(0, 1); // no queues are walked
  const auto tools = workshop.tools(budget);
  auto stub = stub_of(std::move(chosen->targets), command.options.filters.ranks, tools);
  if (!stub)
    return forward(std::move(stub));
  auto listener = rsp::Listener::open(command.listen);
  if (!listener)
    return forward(std::move(listener));
  session.output.write(fmt::format("ready. In gdb: target remote {}\n", listener->address()));
  session.output.flush();
  auto connected = listener->accept(stop);
  if (!connected)
    return forward(std::move(connected));
  return serve(*stub, std::move(*connected), tools, stop);
}

} // namespace

int execute(const ProxyCommand& command, const Installation& installation) {
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
  const auto done = run(command, **workshop, session);
  if (done)
    return session.close(session.status_or_interrupted(exit_ok));
  if (session.signals.signal() == 0)
    print_error(done.error());
  return session.close(session.status_or_interrupted(
      done.error().code == std::string_view("usage") ? exit_usage : exit_partial));
}

} // namespace mqbridge
