#pragma once

#include "host/elf/elf_file.h"

#include <optional>
#include <string>
#include <string_view>

namespace mqbridge {

/// The C name of the MPI function that a function of a call stack is: MPI_Recv and PMPI_Recv are
/// MPI_Recv, and so are Fortran's mpi_recv_, MPI_RECV, mpi_recv_f08_ and pmpi_recv__. It must be a
/// function of `library`, the MPI itself, under its name for tools (PMPI_Recv): a program's own
/// MPI_Exchange_halo is none. `in_mpi`: the function's code is the MPI's. Elsewhere, in a tool's
/// wrapper, only a name that ends with an underscore counts as Fortran: mpi_barrier may be a C
/// program's own function. nullopt: it is no MPI function.
std::optional<std::string> mpi_function(std::string_view function, bool in_mpi,
                                        const ElfFile& library);

/// The same without the library: whether a function of a call stack is spelled like this MPI
/// function.
bool spells(std::string_view function, std::string_view mpi_function);

/// Whether a function that spells() so is the one for C: it takes numbers and handles themselves,
/// where Fortran's takes their addresses.
bool is_for_c(std::string_view function, std::string_view mpi_function);

} // namespace mqbridge
