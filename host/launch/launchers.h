#pragma once

#include "host/launch/launch_options.h"
#include "host/launch/node.h"
#include "host/launch/ssh_masters.h"
#include "rsp/transport/endpoint.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace mqbridge {

/// Makes the command lines that start programs on nodes. ssh's masters live as long as this object.
/// Thread-safe.
class Launchers {
public:
  explicit Launchers(LaunchOptions options)
      : options_(std::move(options)), masters_(options_.launcher_args) {}

  const LaunchOptions& options() const { return options_; }

  /// The command on this host that runs `words` on `node`, with their stdin and stdout.
  std::vector<std::string> command_on(const Node& node, const std::vector<std::string>& words);

  /// The command on this host that runs `words` on each of `nodes`, which srun reaches in one job.
  /// All of them share its stdin, and each line of their stdout has the task's number in front ("3:
  /// "). Lines of more than 1 KiB come in pieces. If one of them fails, the others go on, as far as
  /// Slurm allows.
  std::vector<std::string> command_on_all(const std::vector<Node>& nodes,
                                          const std::vector<std::string>& words) const;

  /// A gdbserver on `node` that is attached to nothing, takes processes in turn, and lets all of
  /// them go at the end of its input. `text` names it in messages.
  rsp::Endpoint server_on(const Node& node, std::string text);

  /// The same inside of a container, into which `node_command` leads; `pid` replaces `{pid}` in it.
  rsp::Endpoint server_inside(const Node& node, std::string text,
                              const std::vector<std::string>& node_command, std::int64_t pid);

private:
  rsp::Endpoint server_of(const Node& node, std::string text,
                          const std::vector<std::string>& words);
  std::vector<std::string> ssh_command(const Node& node, const std::vector<std::string>& words);
  std::vector<std::string> srun(const std::vector<Node>& nodes,
                                const std::vector<std::string>& more,
                                const std::vector<std::string>& words) const;
  std::vector<std::string> srun_command(const Node& node,
                                        const std::vector<std::string>& words) const;

  const LaunchOptions options_;
  SshMasters masters_;
};

} // namespace mqbridge
