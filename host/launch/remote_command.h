#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge {

/// The hosts on which a command line of ssh or srun, as another program has written it, starts its
/// command: ssh's [USER@]HOST, and the names of srun's --nodelist=. Empty: it is no such command
/// line, or names its nodes in another way. The names are any text.
std::vector<std::string> remote_hosts(std::span<const std::string_view> command);

} // namespace mqbridge
