#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace mqbridge {

/// How programs are started on nodes, as far as the user says it.
struct LaunchOptions {
  std::vector<std::string> launcher_args =
      {};                              ///< --launcher-args: before our own, so that they count
  std::string gdbserver = "gdbserver"; ///< --gdbserver: its path on the nodes
  /// --node-command: words that stand before what is started on a node, to get into a container.
  /// `{pid}` in a word is the process as the node numbers it.
  std::vector<std::string> node_command = {};
  std::chrono::milliseconds connect_timeout{10'000};
};

/// Servers of one node at once: sshd allows ten sessions over a connection (MaxSessions).
inline constexpr std::size_t servers_a_node = 8;

} // namespace mqbridge
