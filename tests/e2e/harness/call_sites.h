#pragma once

#include "tests/e2e/harness/call_case.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace mqbridge::e2e {

/// What a dump says wrongly in `blocked_in`, by the calls that the ranks have said they make
/// (SAID() of tests/inferiors/call_log.h), one line for each rank:
/// - a rank that is inside and has not come out is in that MPI call, called from that line;
/// - of "wait_second", for the second receive, and no other;
/// - one that is outside is in no MPI call, but in the program's own waiting, in a system call.
std::vector<std::string> site_differences(const CallCase& param, const std::filesystem::path& step,
                                          const nlohmann::json& document);

} // namespace mqbridge::e2e
