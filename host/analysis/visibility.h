#pragma once

#include "host/analysis/job_waits.h"

#include <string>
#include <vector>

namespace mqbridge {

/// The facts that a verdict could not take into account.
struct Visibility {
  std::vector<std::string> missing; ///< in words: "unexpected queue of ranks 0-3"
  bool all_ranks = true;
  bool whole_queues = true;
  bool counters = true;             ///< messages in flight are counted
  bool all_twice = true;            ///< each rank was looked at twice
  bool own_layouts = true;          ///< no pack of another build of the MPI was used
  std::vector<std::string> guessed; ///< in words; they do not matter where a verdict is certain
  bool guesses = false; ///< it is not known for which of several operations some call waits

  bool complete() const {
    return all_ranks && whole_queues && counters && all_twice && own_layouts;
  }
};

Visibility visibility_of(const JobWaits& waits);

} // namespace mqbridge
