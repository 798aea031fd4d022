#include "host/cli/commands/serve_debugger.h"
#include "rsp/server/listener.h"

#include <fmt/format.h>
#include <utility>

namespace mqbridge {
namespace {

Result<void> run(const ProxyCommand& command, Workshop& workshop, Session& session) {
  const auto stop = session.signals.token();
  auto process = choose_debugged(command, workshop, stop);
  if (!process)
    return forward(std::move(process));
  if (process->target.is_core())
    return fail("usage", "a core needs no stub", "mqbridge gdb " + process->target.text());
  RunBudget budget(0, 1); // no queues are walked
  const auto tools = workshop.tools(budget);
  auto listener = rsp::Listener::open(command.listen);
  if (!listener)
    return forward(std::move(listener));
  rsp::Bell bell;
  rsp::Door door(std::move(*listener), bell);
  auto service =
      DebuggerService::open(*process, command, tools, door, bell, [](const std::string& line) {
        print_on_stderr("mqbridge: " + line + "\n");
      });
  if (!service)
    return forward(std::move(service));
  session.output.write(fmt::format("ready. In gdb: target remote {}\n", door.address()));
  session.output.flush();
  return service->serve(stop);
}

} // namespace

int execute(const ProxyCommand& command, const Installation& installation) {
  return with_workshop(command, installation, [&](Workshop& workshop, Session& session) {
    const auto done = run(command, workshop, session);
    return done ? Result<int>(exit_ok) : Failure(done.error());
  });
}

} // namespace mqbridge
