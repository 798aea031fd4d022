#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace mqbridge::test {

/// A copy of the hostile DLL (hostile.h) in `directory` that does `evil` in `place`, a function of
/// the interface or "constructor". Throws std::runtime_error if the DLL cannot be made.
std::filesystem::path make_hostile_dll(const std::filesystem::path& directory,
                                       const std::string& evil, const std::string& place);

/// Every evil that it knows.
std::vector<std::string> all_evils();

} // namespace mqbridge::test
