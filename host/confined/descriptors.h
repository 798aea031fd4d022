#pragma once

namespace mqbridge::sandbox {

/// Descriptors that a ConfinedProcess starts with, beside 0 (/dev/null), 1 and 2 (a pipe).
inline constexpr int child_socket = 3;
inline constexpr int child_shared_memory = 4;
inline constexpr int child_first_unused = 5;

} // namespace mqbridge::sandbox
