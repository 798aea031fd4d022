#pragma once

#include "bench/queue_walk/contender.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace mqbridge::bench {

/// Files of this machine that the peers need.
struct PeerTools {
  std::filesystem::path debug_dll;    ///< of this machine's Open MPI
  std::filesystem::path type_carrier; ///< of Open MPI's internal types (mqbridge types make)

  /// Makes the type carrier in `directory`. Error: bench.peers, with what is missing.
  static Result<PeerTools> prepare(const std::filesystem::path& directory);
};

/// Every peer of bench/peers (README.md there) that can run here. `left_out` says why the others
/// cannot.
std::vector<Contender> peer_contenders(const PeerTools& tools, std::vector<std::string>& left_out);

/// The line that a peer printed. Error: bench.peer, where it is not one.
Result<Attempt> parse_peer_line(std::string_view line);

} // namespace mqbridge::bench
