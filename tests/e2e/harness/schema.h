#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace mqbridge::e2e {

/// The first violation of the published schema of a dump; empty if there is none.
std::string schema_violation(const nlohmann::json& document);

} // namespace mqbridge::e2e
