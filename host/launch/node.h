#pragma once

#include "rsp/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace mqbridge {

/// How a program is started on a node.
enum class Launcher : std::uint8_t { local, ssh, srun };

/// "local", "ssh", "srun".
std::string_view name_of(Launcher launcher);

/// A computer on which processes run, and how to reach it. Its names were checked:
/// they are safe in a command line.
struct Node {
  Launcher launcher = Launcher::local;
  std::string host;      ///< ssh: [USER@]HOST; srun: the node's name; local: empty
  std::string slurm_job; ///< srun: the job that runs there; else empty

  bool operator==(const Node&) const = default;
  auto operator<=>(const Node&) const = default;

  /// The node's name for people: HOST, of this computer its own name.
  std::string name() const;
  /// The target for process `pid` of this node: "ssh:n17:4711".
  std::string target(std::int64_t pid) const;
};

/// One process of a node, as a target names it.
struct NodeProcess {
  std::string text; ///< as the user wrote it
  Node node;
  std::int64_t pid = 0; ///< on that node
};

/// Whether `text` begins like the targets local:, ssh: and srun:.
bool names_node_process(std::string_view text);

/// `local:PID`, `ssh:[USER@]HOST:PID` (HOST may be [V6]) and `srun:JOB:NODE:PID`. Error:
/// endpoint.syntax.
Result<NodeProcess> parse_node_process(std::string_view text);

/// The node that `--node` or an MPI's own table names: [USER@]HOST, reached by `launcher`.
/// "localhost" and the names of this computer mean this computer, unless a user is named. Error:
/// node.name (the text could be taken for an option, or for more than a name).
Result<Node> node_named(std::string_view host, Launcher launcher, std::string_view slurm_job = {});

/// The same for a `host` that was named on another computer: it is never this one, whatever its
/// name.
Result<Node> other_node(std::string_view host, Launcher launcher, std::string_view slurm_job = {});

/// Whether `host` is this computer: "localhost", its name, or that without its domain. (The same
/// name in a domain may be another computer.)
bool is_this_host(std::string_view host);

} // namespace mqbridge
