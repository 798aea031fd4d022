#pragma once

#include "host/analysis/job_waits.h"

#include <cstddef>
#include <vector>

namespace mqbridge {

/// The processes that remain in a wait-for graph once every process has gone on that can:
/// docs/verdict.md.
struct Reduction {
  std::vector<bool> dead;      ///< by process: nothing that can happen makes it go on
  std::vector<bool> undecided; ///< by process: unknown facts decide whether it is dead
  /// By process: it waits outside of MPI for something that is not known, no process in MPI waits
  /// for it, and others of its job go on. These are not among `undecided`.
  std::vector<bool> aside;
  /// True: some processes are dead even if every guess is wrong, and `dead` has only these. False:
  /// there are none, and `dead` has the processes that are dead if the guesses are right.
  bool proven = false;
  std::vector<bool> doubtful; ///< not `dead`, but dead if the guesses are right
  /// Neither dead nor undecided, but not sure to go on without the nodes that have the benefit of
  /// the doubt (Assumptions::doubtful_runs).
  std::vector<bool> standing;
  std::vector<bool> certain; ///< dead even if calls wait for more than any list shows
  /// Sink components of the dead processes: the processes of each, by index. A process of a core
  /// waits only for others of its component, or for processes that can no longer help.
  std::vector<std::vector<std::size_t>> cores;
  /// For each process of a core: the processes of its component that it waits for, at most
  /// `most_next`.
  static constexpr std::size_t most_next = 2;
  std::vector<std::vector<std::size_t>> next;

  bool any_dead() const { return !cores.empty(); }
};

/// `idle_runs`: as in Assumptions. Without it `dead` has the processes that only a thread that
/// sleeps could help.
Reduction reduce(const JobWaits& waits, bool idle_runs = true);

} // namespace mqbridge
