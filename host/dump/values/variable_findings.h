#pragma once

#include "host/mpi/variables.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge {

// Results about the variables of several processes together. Ranks are indexes into Dump::ranks.

/// One value of a variable, and the ranks that have it.
struct VariableOpinion {
  std::vector<std::size_t> ranks;
  bool exists = true;                 ///< false: these processes have no such variable
  std::optional<VariableValue> value; ///< if it exists
  std::string name = {};              ///< of the value, by its enumeration
  std::string set_by = {};            ///< if it is the same for all of them
};

/// A variable whose value is not the same on all ranks.
struct VariableDifference {
  VariableKind kind = VariableKind::control;
  std::string name;
  std::string object = {};            ///< as VariableReading has it
  std::optional<VariableScope> scope; ///< of a control variable
  bool majority = false;              ///< more than half of the ranks have the first opinion
  std::vector<VariableOpinion> opinions = {}; ///< most ranks first; then by rank
  std::vector<std::size_t> unknown = {};      ///< ranks whose value could not be read
};

/// The ranks of one job compared: `mqbridge vars --diff`.
struct JobVariableDifferences {
  std::optional<std::string> job_id;
  std::vector<std::size_t> ranks;   ///< ranks that were compared
  std::vector<std::size_t> without; ///< ranks that were not: no variables were read
  std::uint64_t compared = 0;       ///< number of variables, without those left out
  /// How many of `compared` agree on all ranks that could be read, while some rank could not be.
  std::uint64_t unread = 0;
  std::vector<VariableDifference> differences;
  std::uint64_t performance = 0;      ///< left out: performance variables
  std::vector<std::string> own;       ///< left out: each process has its own value, by nature
  std::vector<std::string> addresses; ///< left out: values that are addresses
};

/// A process with a long queue of unexpected messages, as its MPI counts them.
struct UnexpectedLength {
  std::size_t rank = 0;
  std::string variable;
  std::string object = {};             ///< as VariableReading has it
  std::uint64_t length = 0;            ///< messages; of all peers, where the MPI counts by peer
  std::vector<std::size_t> peers = {}; ///< peers with a count that is not 0; the highest first
  bool earlier = false;                ///< counted before the stop; false: as the process stands
  std::optional<double> age_s = {};    ///< seconds before the stop; nullopt: not known
};

/// The tool of MPI 3.1's example 14.6, for stopped processes: `mqbridge vars --unexpected`.
struct UnexpectedLengths {
  std::uint64_t longer_than = 0;
  std::vector<UnexpectedLength> queues; ///< longest first
  std::vector<std::size_t> counted;     ///< ranks with a known length
  std::vector<std::size_t> unknown;     ///< the others: their length need not be 0
};

} // namespace mqbridge
