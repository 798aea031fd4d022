#pragma once

#include "tests/analysis/documents.h"
#include "tests/analysis/program.h"

#include <cstdint>
#include <string>

namespace mqbridge::sim {

struct Seeds {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  Teller teller = Teller::openmpi;
  bool filtered = false; ///< with random_filters()
};

/// Plays the random program of each seed, sees it as random_sight() says, and compares analyze()
/// with the oracle. What was wrong of the first few that fail, with the program, shrunk; empty:
/// they agree.
std::string disagreements(const Seeds& seeds);

/// The same of one program, with the schedules and sights of these seeds.
std::string disagreements_on(const Program& program, const Seeds& seeds);

} // namespace mqbridge::sim
