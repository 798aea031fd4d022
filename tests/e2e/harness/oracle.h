#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace mqbridge::e2e {

/// What a rank says it posted (tests/inferiors/oracle_log.h).
struct Oracle {
  std::vector<nlohmann::json> communicators;
  std::vector<nlohmann::json> operations;
  int internal = 0; ///< communicators that the library made for itself
};

Oracle read_oracle(const std::filesystem::path& directory, int rank);

/// Compares a rank of a dump with its oracle: communicators by name with rank, size and group; each
/// send and receive queue, and each unexpected one if the oracle tells of any such message, as a
/// multiset of operations, field by field. One line for each
/// difference, none if they agree.
std::vector<std::string> differences(const Oracle& oracle, const nlohmann::json& rank);

/// The communicators of a rank as they should be on every platform: sorted, without what belongs to
/// one process (identifiers, addresses), nor which of the DLL's values had to be repaired there.
nlohmann::json comparable_communicators(const nlohmann::json& rank);

/// Rank runs [first, last, step] of the dump as a plain list.
std::vector<long> expand_runs(const nlohmann::json& runs);

} // namespace mqbridge::e2e
