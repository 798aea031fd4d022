#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace mqbridge::e2e {

/// A line of a schedule (tests/inferiors/mpi_traffic.c). `peer` is a rank of the communicator; it
/// and `tag` may be -1 for a receive.
struct TrafficLine {
  int rank;
  std::string verb; ///< isend, issend, irecv, late, burst
  int comm;         ///< 0 MPI_COMM_WORLD, 1 dup, 2 reversed, 3 between
  int peer;
  int tag;
  long bytes; ///< of a burst: its messages
};

using TrafficStep = std::vector<TrafficLine>;

std::string schedule_text(const std::vector<TrafficStep>& steps);

/// A random program of so many ranks: messages of sizes around those up to which Open MPI sends at
/// once, on two communicators and sometimes on all four, receives of some of them, often with
/// wildcards, receives of what nobody sends, and messages to ranks that do not look any more.
TrafficStep random_traffic(std::uint32_t seed, int ranks);

/// What a dump of all ranks says wrongly, by what they say in `step` that they have sent and
/// received; one line for each. Empty if all is right:
/// - the unexpected messages of each communicator are what was sent to it, has arrived and was not
///   received, those of each sender in the order of sending;
/// - its pending receives are those that the program has posted;
/// - what was sent and has not arrived is, by the counters, what was sent to ranks that did not
///   look any more; on communicators that only the program uses the counters are its messages.
std::vector<std::string> traffic_differences(const std::filesystem::path& step,
                                             const nlohmann::json& document);

} // namespace mqbridge::e2e
