#include "host/cli/arguments/parse_serve.h"

#include "host/cli/arguments/parse_dump.h"
#include "host/disk/cache_directory.h"
#include "host/service/look_store.h"
#include "rsp/server/listener.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <utility>
#include <variant>

namespace mqbridge {
namespace {

/// The service of this user, if no other place is named.
std::optional<std::filesystem::path> usual_socket() {
  const char* const run = std::getenv("XDG_RUNTIME_DIR");
  if (run != nullptr && std::filesystem::path(run).is_absolute())
    return std::filesystem::path(run) / "mqbridge.socket";
  const auto state = user_directory("XDG_STATE_HOME", ".local/state");
  return state ? std::optional(*state / "mqbridge/socket") : std::nullopt;
}

/// `option`: "--listen" or "--service".
Result<rsp::Endpoint> parse_socket(const std::string& option, const std::string& text) {
  const auto usual = usual_socket();
  if (text.empty() && !usual)
    return fail("usage", "there is no usual place for the socket: HOME is not set",
                option + " unix:PATH");
  auto endpoint = rsp::parse_listen(text.empty() ? "unix:" + usual->string() : text);
  if (endpoint && !std::holds_alternative<rsp::UnixEndpoint>(endpoint->where))
    return fail("usage.value", fmt::format("{} {}: the service has a Unix socket", option, text),
                option + " unix:PATH; for a browser: mqbridge serve --open");
  return endpoint;
}

} // namespace

Result<Command> serve_command(const RawOptions& raw) {
  auto listen = parse_socket("--listen", raw.listen);
  if (!listen)
    return forward(std::move(listen));
  const auto state = user_directory("XDG_STATE_HOME", ".local/state");
  if (raw.state.empty() && !state)
    return fail("usage", "there is no usual place for what is kept: HOME is not set",
                "--state DIR");
  const auto config = user_directory("XDG_CONFIG_HOME", ".config");
  ServeCommand command;
  command.listen = std::move(*listen);
  command.state = raw.state.empty() ? *state / "mqbridge/looks" : std::filesystem::path(raw.state);
  command.config = raw.config;
  command.needs_config = !raw.config.empty();
  if (raw.config.empty() && config)
    command.config = *config / "mqbridge/service.toml";
  command.open = raw.open;
  command.check = raw.check;
  return Command(std::move(command));
}

Result<Command> jobs_command(const RawOptions& raw) {
  auto service = parse_socket("--service", raw.service);
  if (!service)
    return forward(std::move(service));
  return Command(JobsCommand{std::move(*service), raw.format, raw.output, raw.color});
}

Result<Command> service_look_command(const RawOptions& raw) {
  auto service = parse_socket("--service", raw.service);
  if (!service)
    return forward(std::move(service));
  if (!is_job_name(raw.job))
    return fail("usage", "mqbridge dump: --service does not say which job, by its name there",
                "--job NAME; mqbridge jobs prints the names");
  auto look = parse_look(raw, true);
  if (!look)
    return forward(std::move(look));
  if (look->format == Format::collect)
    return fail("usage", "mqbridge dump: --service prints no frames of a collector",
                "another --format");
  return Command(ServiceLookCommand{std::move(*service), raw.job, {"", std::move(*look)}});
}

} // namespace mqbridge
