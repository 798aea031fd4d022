#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace mqbridge::e2e {

/// Every process of a who_is_who, of both its jobs, by the files that they wrote: "local:PID".
std::vector<std::string> who_targets(const std::filesystem::path& directory);

/// Lets both ranks that mpirun started go on, and waits for their end.
bool who_finishes(const std::filesystem::path& directory);

/// Where a dump of all processes of a who_is_who (tests/inferiors) contradicts what they wrote: who
/// is in each communicator and on its other side, by process ids, whom its receive waits for, and
/// that each communicator has a key of its own, the same on all its ranks. `other_jobs`: members
/// of another job must be known; else they may be unknown, and are never wrong. Empty: nowhere.
std::vector<std::string> who_differences(const std::filesystem::path& directory,
                                         const nlohmann::json& document, bool other_jobs);

} // namespace mqbridge::e2e
