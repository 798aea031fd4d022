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

/// A computer that processes run on, and the way to it. What its names consist of was checked
/// (node_name_fault()): they can stand in a command line.
struct Node {
  Launcher launcher = Launcher::local;
  std::string host;      ///< ssh: [USER@]HOST; srun: the node's name; local: empty
  std::string slurm_job; ///< srun: the job that runs there; else empty

  bool operator==(const Node&) const = default;
  auto operator<=>(const Node&) const = default;

  /// The node's name for people: HOST, of this computer its own name.
  std::string name() const;
  /// The target that is process `pid` of it: "ssh:n17:4711".
  std::string target(std::int64_t pid) const;
};

/// One process of a node, as a target names it.
struct NodeProcess {
  std::string text; ///< as the user wrote it
  Node node;
  std::int64_t pid = 0; ///< on that node
};

/// Whether `text` begins as local:, ssh: and srun: targets do.
bool names_node_process(std::string_view text);

/// `local:PID`, `ssh:[USER@]HOST:PID` (HOST may be [V6]) and `srun:JOB:NODE:PID`. Error:
/// endpoint.syntax.
Result<NodeProcess> parse_node_process(std::string_view text);

/// The node that `--node` and an MPI's own tables name: [USER@]HOST, reached by `launcher`.
/// "localhost" and the names of this computer are this computer, unless a user is named. Error:
/// node.name (it could be taken for an option, or for more than a name).
Result<Node> node_named(std::string_view host, Launcher launcher, std::string_view slurm_job = {});

/// The same where `host` was named on another computer: never this one, whatever its name.
Result<Node> other_node(std::string_view host, Launcher launcher, std::string_view slurm_job = {});

/// Whether `host` is this computer: "localhost", its name, or that without its domain. (The same
/// name in a domain may be another computer.)
bool is_this_host(std::string_view host);

} // namespace mqbridge
