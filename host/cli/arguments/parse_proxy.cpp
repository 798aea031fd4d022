#include "host/cli/arguments/parse_proxy.h"

#include "host/cli/arguments/option_values.h"
#include "host/cli/arguments/parse_dump.h"
#include "host/cli/arguments/parse_job.h"
#include "host/cli/collect/collector_words.h"
#include "host/launch/shell_words.h"
#include "rsp/server/listener.h"

#include <fmt/format.h>
#include <string_view>
#include <utility>

namespace mqbridge {
namespace {

/// "detach", "stay" or "wait=S".
Result<std::optional<std::chrono::milliseconds>> parse_stay(const std::string& text) {
  using Stay = std::optional<std::chrono::milliseconds>;
  constexpr std::string_view option = "--on-disconnect";
  constexpr std::string_view wait = "wait=";
  if (text.empty() || text == "detach")
    return Stay(0);
  if (text == "stay")
    return Stay();
  if (!text.starts_with(wait))
    return fail("usage.value", fmt::format("{} {}: there is no such way", option, text),
                "one of detach, stay, wait=SECONDS");
  auto seconds = parse_seconds(option, text.substr(wait.size()));
  return seconds ? Result<Stay>(*seconds) : forward(std::move(seconds));
}

Result<ProxyCommand> common_command(const RawOptions& raw, std::string_view name) {
  auto choice = parse_choice(raw, NoTarget::sole_job, name);
  if (!choice)
    return forward(std::move(choice));
  auto look = parse_look(raw, true);
  if (!look)
    return forward(std::move(look));
  auto stay = parse_stay(raw.on_disconnect);
  if (!stay)
    return forward(std::move(stay));
  ProxyCommand command;
  command.targets = std::move(*choice);
  command.options = std::move(look->options);
  command.look_words = look_words(raw);
  for (const auto& [option, value] :
       {std::pair("--launcher", &raw.launcher), std::pair("--launcher-args", &raw.launcher_args)})
    if (!value->empty())
      command.look_words.insert(command.look_words.end(), {option, *value});
  command.stay = *stay;
  command.trace = raw.trace;
  return command;
}

} // namespace

Result<Command> proxy_command(const RawOptions& raw) {
  auto command = common_command(raw, "proxy");
  if (!command)
    return forward(std::move(command));
  if (raw.listen.empty())
    return fail("usage", "mqbridge proxy: --listen does not say where the debugger connects",
                "mqbridge proxy --listen unix:/tmp/rank3 TARGET, then in gdb: "
                "target remote /tmp/rank3");
  auto listen = rsp::parse_listen(raw.listen);
  if (!listen)
    return forward(std::move(listen));
  command->listen = std::move(*listen);
  return Command(std::move(*command));
}

Result<Command> gdb_command(const RawOptions& raw, std::vector<std::string> arguments) {
  auto command = common_command(raw, "gdb");
  if (!command)
    return forward(std::move(command));
  return Command(GdbCommand{std::move(*command), std::move(arguments)});
}

} // namespace mqbridge
