#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mqbridge {

/// The host that a command of `exec:` leads to: of `ssh`, `rsh` and `srun -w`, whatever their
/// options. "ssh -T me@node7 gdbserver ..." is "node7". nullopt: it cannot be told from the words
/// (another command, a shell's variable, several nodes).
std::optional<std::string> command_host(std::string_view command);

} // namespace mqbridge
