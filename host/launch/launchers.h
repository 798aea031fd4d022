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

/// Makes the command lines that start programs on nodes. The masters of ssh live as long as this.
/// Thread-safe.
class Launchers {
public:
  explicit Launchers(LaunchOptions options)
      : options_(std::move(options)), masters_(options_.launcher_args) {}

  const LaunchOptions& options() const { return options_; }

  /// The command of this host that runs `words` on `node`, its stdin and stdout being theirs.
  std::vector<std::string> command_on(const Node& node, const std::vector<std::string>& words);

  /// The command of this host that runs `words` on each of `nodes`, which srun reaches in one job.
  /// Its stdin is that of all, and each line of their stdout has the number of the task in front
  /// ("3: "). Lines of more than 1 KiB come in pieces. One that fails ends none of the others, as
  /// far as Slurm lets it.
  std::vector<std::string> command_on_all(const std::vector<Node>& nodes,
                                          const std::vector<std::string>& words) const;

  /// A gdbserver on `node` that is attached to nothing, takes processes in turn, and lets all of
  /// them go at the end of its input. `text` names it in messages.
  rsp::Endpoint server_on(const Node& node, std::string text);

  /// The same inside of what `node_command` leads into; `pid` is what its `{pid}` stands for.
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
