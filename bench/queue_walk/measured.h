#pragma once

#include <cstdint>
#include <optional>

namespace mqbridge::bench {

/// The cost of one run of a contender. nullopt: the contender does not tell that figure.
struct Measured {
  double wall_s = 0; ///< from connecting to having detached
  double walk_s = 0; ///< of that, the queues alone
  std::optional<double> stopped_s;
  std::optional<double> cpu_s;     ///< of this host, without the link's
  std::optional<double> far_cpu_s; ///< of the stubs and the links
  std::uint64_t round_trips = 0;   ///< as the link saw them, the connection's own included
  std::uint64_t bytes = 0;         ///< from the stub, on the wire
  std::optional<std::uint64_t> walk_round_trips;
  std::optional<std::uint64_t> walk_bytes;
  std::optional<std::uint64_t> requests;
  std::optional<std::uint64_t> pages_touched;
  std::optional<std::uint64_t> pages_read;
  std::optional<std::uint64_t> peak_bytes; ///< of memory, beyond what was there before
};

} // namespace mqbridge::bench
