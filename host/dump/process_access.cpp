#include "host/dump/process_access.h"

#include "host/dump/command_host.h"
#include "host/dump/core_access.h"
#include "host/dump/live_access.h"

#include <array>
#include <unistd.h>

namespace mqbridge {
namespace {

std::optional<std::string> host_of(const rsp::Endpoint& endpoint) {
  constexpr std::string_view exec = "exec:";
  if (const auto* tcp = std::get_if<rsp::TcpEndpoint>(&endpoint.where))
    return tcp->host;
  if (endpoint.text.starts_with(exec))
    return command_host(std::string_view(endpoint.text).substr(exec.size()));
  std::array<char, 256> name{};
  const bool here = std::holds_alternative<rsp::UnixEndpoint>(endpoint.where) || endpoint.local_pid;
  if (here && gethostname(name.data(), name.size() - 1) == 0)
    return name.data();
  return std::nullopt;
}

} // namespace

std::unique_ptr<ProcessAccess> access_to(const TargetSpec& target, const SharedTools& tools,
                                         std::shared_ptr<rsp::SharedStub>& stub) {
  if (const auto* endpoint = target.live())
    return std::make_unique<LiveAccess>(*endpoint, tools, stub);
  return std::make_unique<CoreAccess>(std::get<CoreEndpoint>(target.where), tools.files);
}

void name_target(RankDump& dump, const TargetSpec& target) {
  dump.endpoint = target.text();
  const auto* const endpoint = target.live();
  if (endpoint == nullptr)
    return;
  dump.host = host_of(*endpoint);
  dump.pid = endpoint->local_pid ? endpoint->local_pid : endpoint->pid;
}

} // namespace mqbridge
