#pragma once

#include "host/analysis/job_waits.h"
#include "host/analysis/reduction.h"
#include "host/dump/values/analysis.h"

#include <cstddef>
#include <string>
#include <vector>

namespace mqbridge {

/// A reason why a job does not move, and where to look for it.
struct Reason {
  Finding finding;
  std::string look_at;                ///< empty: the finding itself says it
  std::vector<std::size_t> core = {}; ///< processes that are no less the cause than the core
};

/// The input of all finders. Refers to all of it.
struct FindingInput {
  const JobWaits& waits;
  const Reduction& reduction;

  const JobPicture& picture() const { return waits.picture(); }
};

// Most processes and operations that finders compare: a queue may have ten million operations.
inline constexpr std::size_t most_processes = 64;
inline constexpr std::size_t most_others = 10'000; ///< operations of a queue

// Finders, the most likely cause first. Each adds what it finds.

/// A send, a receive or a message that nearly meets what a dead process waits for.
void find_near_misses(const FindingInput& input, std::vector<Reason>& reasons);
/// Another collective on the same communicator.
void find_collective_mismatches(const FindingInput& input, std::vector<Reason>& reasons);
/// Collectives that wait for each other's members: on several communicators in another order, or
/// different ones on one communicator.
void find_collective_order(const FindingInput& input, std::vector<Reason>& reasons);
/// A persistent request that nobody has started.
void find_never_started(const FindingInput& input, std::vector<Reason>& reasons);
/// Partners that have exited or are in MPI_Finalize.
void find_lost_partners(const FindingInput& input, std::vector<Reason>& reasons);
/// The cycles and knots themselves.
void find_cores(const FindingInput& input, std::vector<Reason>& reasons);
/// What would be cycles and knots if no thread that sleeps beside them calls MPI again.
void find_idle_cores(const FindingInput& input, std::vector<Reason>& reasons);
/// Messages that a dead process has and nobody receives.
void find_orphans(const FindingInput& input, std::vector<Reason>& reasons);
/// Processes that run while the others wait, and what they do.
void find_stragglers(const FindingInput& input, std::vector<Reason>& reasons);
/// Transports that do not move, processes that are suspended, loops that poll, messages that pile
/// up, waits that are not known.
void find_conditions(const FindingInput& input, std::vector<Reason>& reasons);

/// For each job, where the few ranks are that are not where more than half of them are: "3 of 4
/// ranks are in MPI_Allreduce at a.c:24, rank 3 is in MPI_Barrier at a.c:22". Of a deadlock, only
/// ranks that cannot go on are compared ("3 of the 4 ranks that cannot go on are ..."). None: no
/// rank is the odd one.
std::vector<std::string> odd_ranks(const FindingInput& input);

/// A finding about these processes, which are of one job.
Finding make_finding(const JobPicture& picture, FindingKind kind,
                     const std::vector<std::size_t>& processes, std::string message);

} // namespace mqbridge
