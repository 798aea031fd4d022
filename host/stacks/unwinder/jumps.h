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

/// The name of a function without a symbol, if functions with a symbol do nothing but jump to it:
/// it goes by their name. Example: in MPICH, PMPI_Waitany is one instruction, a jump to a static
/// function, and is itself never on a stack. `address`: in the function without a symbol. nullopt:
/// nobody knows where the function begins; or no function just jumps there; or several do whose
/// names differ (MPI_X and PMPI_X count as one); or jumps of the architecture are not known here.
std::optional<JumpedTo> jumped_to(Modules& modules, Dwfl_Module* module, std::uint64_t address);

} // namespace mqbridge::unwinder
