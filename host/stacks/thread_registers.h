#pragma once

#include "host/memory/platform.h"
#include "host/process/process_thread.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace mqbridge {

/// A register by its number in DWARF, as the psABI of its architecture counts them. In host byte
/// order, not sign-extended.
struct DwarfRegister {
  std::uint16_t number = 0;
  std::uint64_t value = 0;

  bool operator==(const DwarfRegister&) const = default;
};

/// What a thread's registers hold, as far as it is available. nullopt and left out: not known, as
/// on an architecture that is not known here.
std::optional<std::uint64_t> program_counter(const ProcessThread& thread, const Platform& platform);
std::optional<std::uint64_t> stack_pointer(const ProcessThread& thread, const Platform& platform);
/// The `size` bytes (up to 8) at `offset` of its registers. nullopt: not all of them are available.
std::optional<std::uint64_t> register_at(const ProcessThread& thread, const Platform& platform,
                                         std::size_t offset, std::size_t size);
/// In no order. The program counter is not among them, unless it has a number as on x86_64.
std::vector<DwarfRegister> dwarf_registers(const ProcessThread& thread, const Platform& platform);

/// The number of the stack pointer. nullopt: the architecture is not known here.
std::optional<std::uint16_t> stack_pointer_number(const Platform& platform);

} // namespace mqbridge
