#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace mqbridge::rsp {

/// Registers of one thread, byte by byte. nullopt: the byte is not available, which is no zero.
using RegisterBytes = std::vector<std::optional<std::byte>>;

} // namespace mqbridge::rsp
