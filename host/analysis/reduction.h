#pragma once

#include "host/analysis/job_waits.h"

#include <cstddef>
#include <vector>

namespace mqbridge {

/// What remains of a wait-for graph once all have gone on that can: docs/verdict.md.
struct Reduction {
  std::vector<bool> dead;      ///< by process: nothing that can happen makes it go on
  std::vector<bool> undecided; ///< what is not known decides about it
  /// `dead` is what is dead also where every guess is wrong. Where nothing is, it is what the
  /// guesses say.
  bool proven = false;
  std::vector<bool> doubtful; ///< not `dead`, and dead as the guesses say
  /// Not dead, and dead but for what has the benefit of the doubt.
  std::vector<bool> standing;
  std::vector<bool> certain; ///< dead, also where calls wait for more than any list shows
  /// Sink components of what is dead: the processes of each, by index. Who waits only for others of
  /// its component, or for nobody who could help.
  std::vector<std::vector<std::size_t>> cores;
  /// By process of a core: those of its component that it waits for, at most `most_next` of them.
  static constexpr std::size_t most_next = 2;
  std::vector<std::vector<std::size_t>> next;

  bool any_dead() const { return !cores.empty(); }
};

Reduction reduce(const JobWaits& waits);

} // namespace mqbridge
