#pragma once

#include "tests/support/child_process.h"

#include <filesystem>
#include <functional>
#include <string>

namespace mqbridge::e2e {

/// Where `./dev targets` keeps the files of a target.
std::filesystem::path target_files(const std::string& target);

/// For MQBRIDGE_SKIP_IF_LACKING: the target must have been made.
std::string lacking_target(const std::string& target);

/// An inferior compiled against the files of a target, by `compile` for the output that it is
/// given. Again when a source of tests/inferiors or the target is younger; by one test at a time.
/// Throws std::runtime_error with the compiler's words.
std::filesystem::path
program_for(const std::string& target, const std::string& name,
            const std::function<test::ChildSpec(const std::filesystem::path& output)>& compile);

/// The source files of one of the programs of tests/inferiors.
std::vector<std::string> inferior_sources(const std::string& name);

} // namespace mqbridge::e2e
