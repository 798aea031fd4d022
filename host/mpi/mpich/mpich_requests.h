#pragma once

#include "host/mpi/mpich/mpich_communicators.h"
#include "host/mpi/mpich/mpich_layout.h"
#include "host/process/address_space.h"

#include <vector>

namespace mqbridge::mpich {

/// Finds each operation's request in the process's own lists (Operation::request), and corrects the
/// operation from it:
///
///   - status: of a persistent send the DLL reads another counter than the one that counts, and
///     takes one that is not started for complete; of a buffered one, whether its copy has left;
///   - length: the DLL gives elements; bytes where the datatype's size is known, else they are
///     labelled elements. Of an unexpected message, the bytes that its envelope announced;
///   - peer: ranks beyond 16 bits, which the DLL cuts; ranks in MPI_COMM_WORLD by the
///     communicator's group, but not those of an intercommunicator's peers;
///   - buffer: where MPICH keeps an unexpected message that has come.
///
/// An operation whose request is not found stays as the DLL gave it, in elements; but on a
/// big-endian target it is left out, and the queue says so: there the DLL reads halves of integers,
/// and finds operations of other communicators. Errors: those of Memory.
Result<void> correct_operations(std::vector<Communicator>& communicators, const FactsById& facts,
                                const Layout& layout, const AddressSpace& space);

} // namespace mqbridge::mpich
