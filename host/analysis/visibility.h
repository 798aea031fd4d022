#pragma once

#include "host/analysis/job_waits.h"

#include <string>
#include <vector>

namespace mqbridge {

/// What a verdict could not take into account.
struct Visibility {
  std::vector<std::string> missing; ///< in words: "unexpected queue of ranks 0-3"
  bool all_ranks = true;
  bool whole_queues = true;
  bool counters = true;             ///< messages in flight
  bool all_twice = true;            ///< each rank was looked at twice
  std::vector<std::string> guessed; ///< in words; of no account where a verdict is certain
  bool guesses = false; ///< some call waits for one of several things, and nobody knows which

  bool complete() const { return all_ranks && whole_queues && counters && all_twice; }
};

Visibility visibility_of(const JobWaits& waits);

} // namespace mqbridge
