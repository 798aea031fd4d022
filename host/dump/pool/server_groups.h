#pragma once

#include "host/dump/shared_tools.h"
#include "host/dump/target/node_server.h"
#include "host/dump/target/target_spec.h"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace mqbridge {

/// Targets that share a stub, or the gdbservers of a node.
struct ServerGroup {
  /// The node on which their servers are started (server_of() of any of them); nullopt: the targets
  /// have a stub that is there, or a core file.
  std::optional<Node> node;
  std::vector<std::size_t> targets; ///< by index, in order
};

/// In the order in which they are first named.
std::vector<ServerGroup> server_groups(std::span<const TargetSpec> targets,
                                       const SharedTools& tools);

/// How many servers the group has at once. On this computer more than the number of processors
/// would only make each hold longer.
std::size_t servers_of(const ServerGroup& group);

} // namespace mqbridge
