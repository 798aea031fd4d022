#pragma once

#include "host/elf/elf_file.h"
#include "host/mpi/mpi_support.h"

namespace mqbridge::mpich {

/// Which of the MPIs with MPICH's binary interface this library is, by the text that
/// MPI_Get_library_version makes its answer of; "MPICH ABI" where it is not one of those known. The
/// version is told where it stands beside the date of the release, as in MPICH's version.c. This is
/// for libraries that export the functions of the interface alone (Debian's MPICH 4.2.1): symbols
/// lead to nothing else in them.
MpiRelease read_release(const ElfFile& library);

} // namespace mqbridge::mpich
