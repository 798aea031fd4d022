#pragma once

#include "host/dump/values/document.h"
#include "tests/analysis/documents.h"
#include "tests/analysis/world.h"

#include <cstdint>
#include <optional>
#include <string>

namespace mqbridge::sim {

/// How a job is looked at. Its ranks are never stopped all at once: each is seen up to `skew` moves
/// of the job earlier than the last one.
struct Sight {
  bool to_the_end = true; ///< when nothing moves any more; else caught in the middle
  int looks = 1;
  int between = 0; ///< of two looks: moves after which the second one came
  int skew = 0;
  std::optional<int> missing = {}; ///< a rank that is not in the document
  Omissions omissions = {};
  Filters filters = {};
  std::uint32_t base = 0; ///< rank_document()
  Teller teller = Teller::openmpi;

  bool is_complete() const { return tells_all() && !hides_operations(filters); }
  /// Apart from what its user did not ask for.
  bool tells_all() const {
    return !missing && !omissions.counters && !omissions.stacks && teller != Teller::arguments;
  }
  /// It shows one moment of the job.
  bool is_still() const { return skew == 0 && (looks == 1 || between == 0); }
  /// It shows all of what the job came to.
  bool is_settled() const {
    return to_the_end && is_still() && is_complete() && !omissions.unique_requests;
  }
};

/// Half of them are complete.
Sight random_sight(std::uint64_t seed, int ranks);
/// Leaves something out in most programs, by one or two options.
Filters random_filters(std::uint64_t seed, int ranks);
std::string to_text(const Sight& sight);

/// What was seen of a run, and the job at the moment when its last rank was seen.
struct Scene {
  World world;
  Sight sight;
  Dump dump;
};

/// A random run of a program; the same seed gives the same one. nullopt: it came to an MPI error.
/// Its second look is left out where ranks would have made no use of the time between both.
std::optional<Scene> play(const Program& program, const Sight& sight, std::uint64_t seed);

} // namespace mqbridge::sim
