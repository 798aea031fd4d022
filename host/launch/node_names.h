#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace mqbridge {

/// Names of nodes in the order of their numbers, each once, as Slurm writes them: "login1,
/// n[017-019,032]". Names alike but for one number are one piece. At most `most_runs` runs of
/// numbers and single names are spelled out, then the number of names left: "n[01-08] and 92 more".
/// Every name is made printable; an empty one is "this host".
std::string node_list_text(std::span<const std::string> names, std::size_t most_runs = 8);

} // namespace mqbridge
