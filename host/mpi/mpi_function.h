#pragma once

#include "host/elf/elf_file.h"

#include <optional>
#include <string>
#include <string_view>

namespace mqbridge {

/// The MPI function that a function of a call stack is, by its C name: MPI_Recv is PMPI_Recv and
/// MPI_Recv, and in Fortran mpi_recv_, MPI_RECV, mpi_recv_f08_ and pmpi_recv__. Only what `library`
/// has, the MPI itself, under its name for tools (PMPI_Recv), is one: MPI_Exchange_halo of a
/// program is none. `in_mpi`: the function's code is the MPI's. Elsewhere, in a tool's wrapper,
/// only what ends with an underscore is taken for Fortran: mpi_barrier may be a C program's own.
/// nullopt: it is no MPI function.
std::optional<std::string> mpi_function(std::string_view function, bool in_mpi,
                                        const ElfFile& library);

/// Whether a function of a call stack is spelled like this MPI function: the same, without the
/// library to ask.
bool spells(std::string_view function, std::string_view mpi_function);

} // namespace mqbridge
