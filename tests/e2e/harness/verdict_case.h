#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace mqbridge::e2e {

/// A job of tests/inferiors/verdict, and what must be said of it. Both follow from the program's
/// code alone.
struct VerdictCase {
  std::string scenario;
  int ranks = 2;
  std::string verdict;      ///< deadlock, no_deadlock, undecided
  std::vector<int> core;    ///< ranks of MPI_COMM_WORLD; where they spawn, in each of the two jobs
  std::vector<int> blocked; ///< as core
  /// Kinds of findings that must be there. A kind that accuses somebody, and is not here, must not.
  std::vector<std::string> findings = {};
  /// Of a deadlock, at least; "possible": of any verdict, and no more.
  std::string confidence = "likely";
  std::vector<int> stragglers = {}; ///< that a finding must name, all of them
  std::vector<int> quiet = {};      ///< ranks that use no CPU: asleep, in MPI_Finalize, gone
  int suspended = -1;               ///< the rank that the test stops
  std::vector<int> odd = {};        ///< that look_at must name first, by where they are
  bool spawns = false;              ///< a job of as many ranks
  bool yields = true;               ///< who waits leaves the processors to the others
  bool may_be_undecided = false;
  bool may_be_possible = false; ///< a deadlock: nothing says that messages move

  int processes() const { return spawns ? 2 * ranks : ranks; }
  bool is_deadlock() const { return verdict == "deadlock"; }
};

void PrintTo(const VerdictCase& param, std::ostream* stream);

/// "scenario_RANKS", for the name of a test.
std::string case_name(const VerdictCase& param);

/// All cases of Open MPI, deadlocks first.
const std::vector<VerdictCase>& verdict_cases();

/// Those of MPICH, which shows all receives and some sends, and counts no messages: a deadlock is
/// possible at the most.
std::vector<VerdictCase> mpich_verdict_cases();

/// What a document's `analysis` says wrongly; a line for each. Empty if all is right.
std::vector<std::string> verdict_differences(const VerdictCase& param,
                                             const nlohmann::json& analysis);

} // namespace mqbridge::e2e
