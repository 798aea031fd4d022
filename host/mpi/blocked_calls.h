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

} // namespace mqbridge
