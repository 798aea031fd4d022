#pragma once

#include "host/stacks/unwinder/modules.h"

#include <cstdint>
#include <optional>
#include <string>

namespace mqbridge::unwinder {

struct JumpedTo {
  std::string name;            ///< of what jumps there, as its symbol has it
  std::uint64_t begins_at = 0; ///< in the process
};

/// A function without a symbol, to which one with a symbol does nothing but jump, goes by that
/// one's name. Example: of MPICH, PMPI_Waitany is one instruction, a jump to a static function, and
/// itself never on a stack. `address`: in the function without a symbol. nullopt: nothing says
/// where that begins, or nothing jumps there alone, or several that are not one function
/// (MPI_X and PMPI_X are); or jumps of the architecture are not known here.
std::optional<JumpedTo> jumped_to(Modules& modules, Dwfl_Module* module, std::uint64_t address);

} // namespace mqbridge::unwinder
