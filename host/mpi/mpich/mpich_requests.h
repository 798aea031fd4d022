#pragma once

#include "host/mpi/mpich/mpich_communicators.h"
#include "host/mpi/mpich/mpich_layout.h"
#include "host/process/address_space.h"

#include <vector>

namespace mqbridge::mpich {

/// Finds each operation's request in the process's own lists (Operation::request), and corrects the
/// operation from it:
///
///   - status: for a persistent send the DLL reads the wrong counter, and it takes a request that
///     is not started for a complete one. For a persistent buffered send this also finds out
///     whether MPICH's copy has left (Operation::delivery);
///   - length: the DLL gives elements. They become bytes if the datatype's size is known; otherwise
///     they are labelled as elements. An unexpected message gets the bytes that its envelope
///     announced;
///   - peer: the DLL cuts ranks to 16 bits. The rank in MPI_COMM_WORLD comes from the
///     communicator's group;
///   - buffer: an unexpected message that has come gets the place where MPICH keeps it.
///
/// An operation whose request is not found stays as the DLL gave it, in elements. On a big-endian
/// target it is left out instead, and the queue says so: the DLL reads halves of integers there,
/// and finds operations of other communicators. Errors: those of Memory.
Result<void> correct_operations(std::vector<Communicator>& communicators, const FactsById& facts,
                                const Layout& layout, const AddressSpace& space);

} // namespace mqbridge::mpich
