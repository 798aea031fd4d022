#pragma once

#include "host/mpi/mpi_library.h"
#include "host/mqs/queues.h"
#include "host/process/address_space.h"
#include "host/stacks/capture.h"
#include "host/stacks/stack.h"
#include "host/stacks/unwind.h"

#include <span>
#include <vector>

namespace mqbridge {

/// What the calls of a process's threads are read from. References outlive the call.
struct StacksOfRank {
  std::span<const UnwoundThread> threads;
  const CapturedStacks& captured; ///< the same threads, in the same order
  const Platform& platform;
  const MpiLibrary& mpi;
  const std::vector<Communicator>& communicators;
};

/// What each application thread (ThreadStack::helper is false) is in. A thread has none where its
/// stack does not tell: it goes on where nothing is known, and no MPI call was seen until there.
std::vector<BlockedCall> blocked_calls(const StacksOfRank& rank);

/// The same where a recorder says, too, what threads are in (UnshownOutcome::calls, with the names
/// of their sites). It knows the communicator and what the call waits for; the stack knows the
/// caller outside of all bindings, and what threads do outside of the MPI. Where the stack has
/// another call, that one is the program's: the recorder saw what the MPI calls inside of it, such
/// as MPI_Allreduce for MPI_File_open. `threads` has all of the process, or none where no stack was
/// read; what the recorder says of others is of no use.
std::vector<BlockedCall> joined_calls(std::vector<BlockedCall> of_stacks,
                                      std::vector<BlockedCall> recorded,
                                      std::span<const UnwoundThread> threads);

} // namespace mqbridge
