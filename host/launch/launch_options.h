#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace mqbridge {

/// The user's options for starting programs on nodes.
struct LaunchOptions {
  std::vector<std::string> launcher_args =
      {};                              ///< --launcher-args: before our own, so that they count
  std::string gdbserver = "gdbserver"; ///< --gdbserver: its path on the nodes
  /// --node-command: words in front of a command on a node, which lead into a container. `{pid}` in
  /// a word stands for the number of the process on the node.
  std::vector<std::string> node_command = {};
  std::string recorder = {}; ///< --recorder: its path on the nodes; empty: not named
  std::chrono::milliseconds connect_timeout{10'000};
};

/// Servers of one node that run at once: sshd allows ten sessions over a connection (MaxSessions).
inline constexpr std::size_t servers_a_node = 8;

} // namespace mqbridge
