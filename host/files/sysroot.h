#pragma once

#include <filesystem>
#include <optional>

namespace mqbridge {

/// The host's path of the target's `path` under `sysroot`, with every symlink followed as the
/// target would: absolute ones start again at the sysroot, and ".." never leaves it. nullopt: it
/// does not exist there, or its symlinks go in a circle.
std::optional<std::filesystem::path> resolve_in_sysroot(const std::filesystem::path& sysroot,
                                                        const std::filesystem::path& path);

} // namespace mqbridge
