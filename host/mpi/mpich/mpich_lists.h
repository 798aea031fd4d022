#pragma once

#include "host/mpi/mpich/mpich_layout.h"
#include "host/process/address_space.h"

#include <vector>

namespace mqbridge::mpich {

/// One element of a list of pending operations, at the full width of its fields.
struct Listed {
  TargetAddress request;
  std::int64_t context = 0;
  std::int64_t tag = 0;  ///< negative: MPI_ANY_TAG
  std::int64_t rank = 0; ///< in the communicator; negative: MPI_ANY_SOURCE
};

/// The list of one op class, in its order, of all communicators. It ends early at an element that
/// cannot be read or was met before, and at ten million elements; it is empty if symbols or types
/// are missing. Errors: those of Memory.
Result<std::vector<Listed>> read_list(const ListLayout& layout, const AddressSpace& space);

} // namespace mqbridge::mpich
