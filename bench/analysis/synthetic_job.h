#pragma once

#include "host/dump/values/document.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mqbridge::bench {

enum class Job : std::uint8_t {
  closed_ring,
  open_ring, ///< the first rank of the ring computes
  recorded,
};

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
///
/// A recorded job has a recorder in each process, and as many operations and messages. The first
/// half of its ranks is in MPI_Barrier, which none of the second half has entered; each of these is
/// in MPI_Recv from one of the first half. That is a deadlock of all.
Dump synthetic_job(int ranks, Job job);

/// The verdict that a job must have.
struct Expected {
  Verdict verdict = Verdict::no_deadlock;
  std::vector<Run> core = {};
  std::vector<Run> blocked = {};
  std::string words = {}; ///< of the report
};
Expected expected_of(int ranks, Job job);

} // namespace mqbridge::bench
