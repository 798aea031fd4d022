#include "host/dump/target/process_access.h"

#include "host/dump/target/command_host.h"
#include "host/dump/target/core_access.h"
#include "host/dump/target/live_access.h"

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
  if (std::holds_alternative<rsp::UnixEndpoint>(endpoint.where) &&
      gethostname(name.data(), name.size() - 1) == 0)
    return name.data();
  return std::nullopt;
}

} // namespace

std::unique_ptr<ProcessAccess> access_to(const TargetSpec& target, const SharedTools& tools,
                                         std::shared_ptr<rsp::SharedStub>& stub) {
  if (target.is_core())
    return std::make_unique<CoreAccess>(std::get<CoreEndpoint>(target.where), tools.files);
  return std::make_unique<LiveAccess>(target, tools, stub);
}

void name_target(RankOutcome& outcome, const TargetSpec& target) {
  outcome.claim.given = target.rank;
  outcome.claim.given_by = target.rank_source;
  outcome.claim.given_job = target.keys.job;
  auto& dump = outcome.dump;
  dump.endpoint = target.text();
  if (const auto* const process = std::get_if<NodeProcess>(&target.where)) {
    dump.host = process->node.name();
    dump.pid = process->pid;
  } else if (const auto* const endpoint = std::get_if<rsp::Endpoint>(&target.where)) {
    dump.host = host_of(*endpoint);
    dump.pid = endpoint->pid;
  }
}

} // namespace mqbridge
