#include "host/dump/pool/server_groups.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <variant>

namespace mqbridge {
namespace {

struct ServerKey {
  std::string operator()(const rsp::TcpEndpoint& tcp) const {
    return fmt::format("tcp {} {}", tcp.host, tcp.port);
  }
  std::string operator()(const rsp::UnixEndpoint& socket) const { return "unix " + socket.path; }
  std::string operator()(const rsp::CommandEndpoint& command) const {
    return fmt::format("command {}", fmt::join(command.argv, "\n"));
  }
  std::string operator()(const rsp::SerialEndpoint& line) const { return "serial " + line.device; }
};

/// The key of a node; a target in a container of its own has another key.
std::string key_of(const NodeProcess& process, const std::vector<std::string>& node_command) {
  const auto words = fmt::format("{}", fmt::join(node_command, "\n"));
  const bool own = words.find("{pid}") != std::string::npos;
  const auto& node = process.node;
  return fmt::format("node {} {} {}\n{}\n{}", name_of(node.launcher), node.slurm_job, node.host,
                     words, own ? process.pid : 0);
}

} // namespace

std::vector<ServerGroup> server_groups(std::span<const TargetSpec> targets,
                                       const SharedTools& tools) {
  std::vector<ServerGroup> groups;
  std::map<std::string, std::size_t> known; // by Endpoint::same_server()
  for (std::size_t i = 0; i < targets.size(); ++i) {
    ServerGroup group;
    std::optional<std::string> key; // a core file is nobody else's
    if (const auto* const process = std::get_if<NodeProcess>(&targets[i].where)) {
      group.node = process->node;
      key = key_of(*process, node_command_of(targets[i], tools));
    } else if (const auto* const stub = std::get_if<rsp::Endpoint>(&targets[i].where)) {
      key = std::visit(ServerKey(), stub->where);
    }
    const auto place = key ? known.emplace(*key, groups.size()).first->second : groups.size();
    if (place == groups.size())
      groups.push_back(std::move(group));
    groups[place].targets.push_back(i);
  }
  return groups;
}

std::size_t servers_of(const ServerGroup& group) {
  if (!group.node)
    return 1;
  const auto most =
      group.node->launcher == Launcher::local
          ? std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, servers_a_node)
          : servers_a_node;
  return std::min(most, group.targets.size());
}

} // namespace mqbridge
