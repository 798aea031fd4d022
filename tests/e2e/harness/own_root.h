#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace mqbridge::e2e {

/// Empty if a command can have a mount namespace of its own here; else why not.
std::string lacking_own_roots();

/// The beginning of a command line whose rest runs in a mount namespace with a root of its own, as
/// in a container: all that is in the directory `files`, and what `binds` puts in its place or
/// beside it (file or directory of this system, its name in there). `root`: an empty directory.
std::vector<std::string>
in_own_root(const std::filesystem::path& root, const std::filesystem::path& files,
            const std::vector<std::pair<std::filesystem::path, std::filesystem::path>>& binds);

} // namespace mqbridge::e2e
