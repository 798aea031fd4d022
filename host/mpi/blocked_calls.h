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

/// The data from which the calls of a process's threads are worked out. References outlive the
/// call.
struct StacksOfRank {
  std::span<const UnwoundThread> threads;
  const CapturedStacks& captured; ///< the same threads, in the same order
  const Platform& platform;
  const MpiLibrary& mpi;
  const std::vector<Communicator>& communicators;
  bool walked = true; ///< by a debug DLL; else mqbridge has read the queues itself
};

/// The call in which each application thread is (ThreadStack::helper is false). A thread has none
/// if its stack does not tell: the known part of the stack ends before any MPI call.
std::vector<BlockedCall> blocked_calls(const StacksOfRank& rank);

/// The same if a recorder tells the threads' calls, too (UnshownOutcome::calls, with the names of
/// their sites). The recorder knows the communicator and the operations that the call waits for.
/// The stack knows the caller outside of all bindings, and what threads do outside of the MPI. If
/// the stack has another call, that one is the program's: the recorder saw a call inside of it,
/// such as MPI_Allreduce for MPI_File_open. `threads` has all threads of the process, or none if no
/// stack was read; the recorder's calls of other threads are ignored.
std::vector<BlockedCall> joined_calls(std::vector<BlockedCall> of_stacks,
                                      std::vector<BlockedCall> recorded,
                                      std::span<const UnwoundThread> threads);

} // namespace mqbridge
