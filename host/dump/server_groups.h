#pragma once

#include "host/dump/node_server.h"
#include "host/dump/shared_tools.h"
#include "host/dump/target_spec.h"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace mqbridge {

/// Targets that share a stub, or the gdbservers of a node.
struct ServerGroup {
  /// Where their servers, server_of() any of them, are started; nullopt: a stub that is there, or a
  /// core file.
  std::optional<Node> node;
  std::vector<std::size_t> targets; ///< by index, in order
};

/// In the order in which they are first named.
std::vector<ServerGroup> server_groups(std::span<const TargetSpec> targets,
                                       const SharedTools& tools);

/// Servers of the group at once. On this computer more than there are processors would only make
/// each hold longer.
std::size_t servers_of(const ServerGroup& group);

} // namespace mqbridge
