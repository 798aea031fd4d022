#pragma once

#include "host/dump/shared_tools.h"
#include "host/job/node_files.h"
#include "host/job/node_scan.h"
#include "host/launch/node.h"
#include "rsp/result.h"

#include <span>
#include <stop_token>
#include <vector>

namespace mqbridge {

/// Searches several nodes at the same time, each over a server of its own. A node that is slow or
/// dead delays no other one, and is given up after a bounded time. Results in the order of `nodes`.
/// Errors of a node: those of start_server() and scan_node(), interrupted.
std::vector<Result<NodeScan>> scan_nodes(std::span<const Node> nodes, const SharedTools& tools,
                                         std::stop_token stop);

} // namespace mqbridge
