#pragma once

#include "host/mpi/variables.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace mqbridge::test {

/// What tests/inferiors/tool_variables.c wrote into its directory.
nlohmann::json said_by(const std::filesystem::path& directory);

/// The only value; null: there is none, or several.
nlohmann::json value_of(const Variable& variable);
/// As the program says it, but for the index.
nlohmann::json shown(const Variable& variable, const ProcessVariables& all);

/// Both have the same variables in the same order, with the same enumerations, categories and
/// values of control variables.
void expect_said(const ProcessVariables& all, const nlohmann::json& said);

/// What tests/inferiors/tool_samples.c wrote into its directory: lines.
std::set<std::string> samples_said_by(const std::filesystem::path& directory);
/// As it says them, of the communicators that it says something of.
std::set<std::string> samples_of(const ProcessVariables& all,
                                 const std::vector<std::string>& names);

} // namespace mqbridge::test
