#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace mqbridge {

/// How CPython keeps the lines of a function's instructions.
enum class LineTable : std::uint8_t {
  pairs,     ///< co_lnotab, up to 3.9
  ranges,    ///< co_linetable of 3.10
  locations, ///< co_linetable of 3.11 and later
};

/// The line of an instruction, from 1. `table` may be damaged. `first_line`: co_firstlineno.
/// `instruction`: its number in the code, in units of 2 bytes. nullopt: it has no line, or the
/// table does not tell. Source: CPython's notes on them, beside its code objects.
std::optional<std::int64_t> line_of_instruction(LineTable kind, std::span<const std::byte> table,
                                                std::int64_t first_line, std::uint64_t instruction);

} // namespace mqbridge
