#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace mqbridge {

/// One --path-map: FROM, a prefix of whole components of the target's paths, and TO, its
/// replacement on this host. A slash at the end of either changes nothing.
using PathRule = std::pair<std::string, std::string>;

/// `path` by that rule; nullopt: FROM is no prefix of it. "/opt/mpi/=/srv/mpi" makes
/// "/srv/mpi/x.so" of "/opt/mpi/x.so", and leaves "/opt/mpi-4/x.so" alone.
std::optional<std::string> map_path(const PathRule& rule, std::string_view path);

} // namespace mqbridge
