#pragma once

#include "tests/e2e/harness/foreign_platform.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace mqbridge::e2e {

/// The oracle's scenarios in which a process can be alone.
const std::vector<std::string>& lone_scenarios();

/// What a dump says of this machine's own oracle_poster, run as a singleton.
nlohmann::json native_rank(const std::string& scenario);

/// Expects that a rank of a dump is of `platform` and was understood with nothing that belongs to
/// this machine but the debug DLL: its own sizes, and the shipped pack of its own build.
void expect_foreign(const ForeignPlatform& platform, const nlohmann::json& rank);

/// Dumps a foreign poster, and expects that the dump says what it posted, and what a dump of the
/// native one says; and that it runs on.
void expect_foreign_truth(const ForeignPlatform& platform, const std::string& scenario);

/// The pack that mqbridge ships for Debian's Open MPI of an architecture, as dpkg calls it.
std::filesystem::path shipped_pack(const std::string& architecture);
std::string text_of(const std::filesystem::path& file);

/// Makes the pack of `platform` anew from the headers of its development package, and expects that
/// it is the shipped one to the letter, and agrees with the sizes that the library states.
void expect_pack_as_shipped(const ForeignPlatform& platform);

} // namespace mqbridge::e2e
