#pragma once

#include "host/stacks/unwinder/modules.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mqbridge::unwinder {

using Call = NamedCall;

/// The calls in which the instruction at `address` is: the innermost first, then the functions into
/// which it was inlined. At least one. From DWARF, and without it from symbol tables.
std::vector<Call> calls_at(Modules& modules, std::uint64_t address);

/// The unit of DWARF that has the code at this address of the process. An address of the process
/// minus `bias` is the address there. nullopt: none has it.
std::optional<Dwarf_Die> unit_at(Modules& modules, Dwfl_Module* module, std::uint64_t address,
                                 Dwarf_Addr& bias);

} // namespace mqbridge::unwinder
