#pragma once

#include "host/memory/architecture.h"
#include "host/process/process_thread.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace mqbridge {

/// A register by its number in DWARF, according to the psABI of its architecture. In host byte
/// order, not sign-extended.
struct DwarfRegister {
  std::uint16_t number = 0;
  std::uint64_t value = 0;

  bool operator==(const DwarfRegister&) const = default;
};

/// The values of a thread's registers, as far as they are available. A value that is not known is
/// nullopt, or left out; on an unknown architecture that is all of them.
std::optional<std::uint64_t> program_counter(const ProcessThread& thread, const Platform& platform);
std::optional<std::uint64_t> stack_pointer(const ProcessThread& thread, const Platform& platform);
/// The address at which the C library describes the thread.
std::optional<std::uint64_t> thread_pointer(const ProcessThread& thread, const Platform& platform);
/// Where the registers stand in the thread's register bytes. `size` is 0 where that is not known,
/// or where the program counter is not among the bytes.
const RegisterPlaces& register_places(const ProcessThread& thread, const Platform& platform);
/// The place of the register with that number in DWARF; nullopt: it is not known.
std::optional<RegisterRun> register_place(const ProcessThread& thread, const Platform& platform,
                                          std::uint16_t number);
/// The `size` bytes (1 to 8) at `offset` of its register bytes. nullopt: not all of them are
/// available.
std::optional<std::uint64_t> register_at(const ProcessThread& thread, const Platform& platform,
                                         std::size_t offset, std::size_t size);
/// In no order. The program counter is only among them if it has a number, as on x86_64.
std::vector<DwarfRegister> dwarf_registers(const ProcessThread& thread, const Platform& platform);

/// The number of the stack pointer. nullopt: the architecture is not known here.
std::optional<std::uint16_t> stack_pointer_number(const Platform& platform);

} // namespace mqbridge
