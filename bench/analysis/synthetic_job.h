#pragma once

#include "host/dump/values/document.h"

#include <cstdint>
#include <vector>

namespace mqbridge::bench {

/// Whether the ring of a synthetic job is closed, or its first rank computes.
enum class Ring : std::uint8_t { closed, open };

/// A dump of a job whose verdict is known by construction. It has 20 operations on each rank, and
/// one communicator of all ranks. By quarters of the ranks:
/// 1. a ring: each is in MPI_Recv from the one before it;
/// 2. each is in MPI_Recv from MPI_ANY_SOURCE: an edge to every other rank;
/// 3. each is in MPI_Waitall of 20 receives from the ranks of the first two quarters;
/// 4. each is in MPI_Allreduce, in which it receives from a rank of the second quarter.
/// Ranks outside of the third quarter have 19 more receives, for which nobody waits. All messages
/// that were sent have arrived. At least 80 ranks.
///
/// Closed, the ring is a deadlock and all others are blocked behind it. Open, nobody is deadlocked.
Dump synthetic_job(int ranks, Ring ring);

/// The ranks of the ring.
std::vector<Run> ring_of(int ranks);
/// All others.
std::vector<Run> behind_ring(int ranks);

} // namespace mqbridge::bench
