#pragma once

#include "host/mpi/recorder/record.h"
#include "host/mpi/recorder/recorded_threads.h"
#include "host/mqs/queues.h"

#include <vector>

namespace mqbridge::recorder {

/// What the interface has no words for, the debug DLL (dll/queues/operations.c) says in lines: the
/// function that posted an operation, its count and datatype, that a send has returned, and last
/// the address of the operation's node, by which the rest is read from the node itself: kind,
/// status (a request that is not started is complete for the DLL), request, number, call site, and
/// the call that waits for it. What cannot be read stays as the DLL said. Errors: those of Memory.
Result<void> complete_operations(std::vector<Communicator>& communicators, const Root& root,
                                 const Waits& waits, const AddressSpace& space);

/// The lines alone.
void take_lines(std::vector<Communicator>& communicators);

} // namespace mqbridge::recorder
