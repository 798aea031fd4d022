#pragma once

#include "tests/analysis/program.h"

#include <vector>

namespace mqbridge::sim {

/// A message of a collective: one that its rank sends or receives.
struct Part {
  bool sends = false;
  int peer = 0; ///< rank in the communicator, or any
  int length = 0;
  bool synchronous = false;
};

/// What is under way at the same time; the next round begins when all of it is complete.
using Round = std::vector<Part>;

/// What rank `rank` of `size` sends and receives in the collective of `statement`, as Open
/// MPI 4.1.4 does it in the sizes that programs use: ompi/mca/coll/tuned
/// (coll_tuned_decision_fixed.c), coll/base and coll/libnbc.
std::vector<Round> rounds_of(const Statement& statement, int rank, int size);

} // namespace mqbridge::sim
